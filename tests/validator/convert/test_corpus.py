"""Every clean job of the corpus and the release of its converted values mean the same."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.validator.convert.expected import MOVED, REFUSED, REMAINING, WITHOUT_NOTE, reason
from tests.validator.convert.meaning import differences
from trainyard.commands.convert.conversion import Converted, convert, is_convertible, rendered
from trainyard.commands.convert.errors import ConvertError
from trainyard.commands.convert.writing import text_of
from trainyard.document import reading
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine.engine import Engine
from trainyard.facts.jobs.kubeflow import CHART_KINDS
from trainyard.linting import pipeline
from trainyard.linting.session import start_session
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Run

FOLDER = Path(__file__).parents[1] / "rules" / "corpus" / "valid"


def _jobs() -> Iterator[tuple[str, Run]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        documents, _ = reading.read(Source(path.name, path.read_text(encoding="utf-8")))
        for run in load_project(documents).runs:
            if is_convertible(run):
                yield path.stem, run


JOBS = list(_jobs())
# A file may hold several jobs, which differ in their names.
IDS = [f"{stem}-{run.name}" for stem, run in JOBS]
MOVABLE = [(stem, run) for stem, run in JOBS if run.kind == "PyTorchJob" and run.elastic is None]


@pytest.mark.parametrize(("stem", "run"), JOBS, ids=IDS)
def test_a_job_and_its_values_mean_the_same(stem: str, run: Run) -> None:
    if stem in REFUSED:
        with pytest.raises(ConvertError, match=REFUSED[stem]):
            convert(run)
        return
    converted = _converted(stem, run.name)
    assert not converted.refusal
    text = text_of(converted, f"{stem}.yaml", ())
    left = [one for one in differences(run, _released(run, text)) if not reason(run.kind, *one)]
    assert {name for name, _, _ in left} == REMAINING.get(stem, {}).keys(), left
    assert converted.lost or converted.changes or {name for name, _, _ in left} <= WITHOUT_NOTE
    assert _findings(text) == []


@pytest.mark.parametrize(("stem", "run"), MOVABLE, ids=[stem for stem, _ in MOVABLE])
def test_a_pytorch_job_moves_to_a_train_job(stem: str, run: Run) -> None:
    converted = convert(run, "TrainJob")
    assert not converted.lost
    moved = _released(run, text_of(converted, f"{stem}.yaml", ()))
    assert moved.kind == "TrainJob"
    assert [one for one in differences(run, moved) if not reason(run.kind, *one, more=MOVED)] == []


def test_most_files_convert_without_loss() -> None:
    lossless = [stem for stem, run in JOBS if stem not in REFUSED and not _converted(stem, run.name).lost]
    assert (len(JOBS), len(lossless)) == (73, 51)


@functools.cache
def _converted(stem: str, name: str) -> Converted:
    (run,) = [run for known, run in JOBS if (known, run.name) == (stem, name)]
    return convert(run)


@functools.cache
def _engine() -> Engine:
    return start_session(()).engine


def _released(run: Run, text: str) -> Run:
    """Returns the run of a release with the values of a text."""
    (document,), broken = reading.read(Source("run.yaml", text))
    assert not broken
    runs = load_project(rendered(run, document.tree)).runs
    (released,) = [one for one in runs if one.kind in CHART_KINDS]
    return released


def _findings(text: str) -> list[str]:
    report = pipeline.lint([pipeline.read_input(File(Source("run.yaml", text)))], _engine())
    assert not report.nothing_linted
    return [f"{found.rule.code} {found.message}" for found in report.findings]
