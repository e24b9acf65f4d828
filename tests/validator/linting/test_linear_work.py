"""The work for a file grows with its length, also for the families of inputs that the fuzzing once found to be slow."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gotemplate.errors import UnsupportedError
from gotemplate.functions import FUNCTIONS
from gotemplate.tracked import Value
from tests.validator.linting.test_large_files import JOB, codes
from tools.fuzz import families
from trainyard.document import yaml_nodes
from trainyard.document.files import File
from trainyard.document.source import BrokenText, Source
from trainyard.engine import registry, suggestions
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline
from trainyard.linting.report import Report
from trainyard.loaders.manifests import manifest, shell
from trainyard.loaders.training_job import effect, release, values
from trainyard.model.run import Role
from trainyard.rules.references import reference_not_found

SMALL, LARGE = 24 * 1024, 96 * 1024
# Those without values, which have the fixed cost of rendering a chart.
GROWING = (
    "copies of a TrainJob and its runtime",
    "containers with unknown variables",
    "releases of charts",
    "quoted templates in a damaged file",
    "broken documents",
    "ConfigMaps of one name",
    "Services and their pods",
    "configurations of Accelerate",
    "templates of an Argo Workflow",
    "groups of a RayCluster",
)


def calls(action: Callable[[], object]) -> int:
    """Return the number of calls of functions during an action: unlike time, it is the same on every machine."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def lint(text: str) -> Report:
    """Lint a text with all rules."""
    return pipeline.lint([pipeline.read_input(File(Source("input.yaml", text)))], Engine(registry.rules()))


@pytest.mark.parametrize("name", GROWING)
def test_four_times_the_input_is_at_most_five_times_the_work(name: str) -> None:
    small, large = families.grown(name, SMALL), families.grown(name, LARGE)
    lint(small)
    assert calls(lambda: lint(large)) < 5 * calls(lambda: lint(small))


def test_small_texts_do_not_displace_a_large_file_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    original = yaml_nodes._roots

    def counted(text: str, broken: list[BrokenText]) -> object:
        parsed.append(len(text))
        return original(text, broken)

    monkeypatch.setattr(yaml_nodes, "_roots", counted)
    text = families.grown("releases of charts", LARGE)
    lint(text)
    assert parsed.count(len(text)) == 1


def test_a_search_for_unused_values_tries_small_counts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: set[float] = set()
    original = release.release_objects

    def recorded(merged: dict[str, Any], *args: Any, **options: Any) -> object:
        tried.add(merged["fabric"]["rails"])
        return original(merged, *args, **options)

    monkeypatch.setattr(release, "release_objects", recorded)
    lint(families.FAMILIES["rails"][0])
    assert tried == {8, 9}


def test_a_number_of_rails_that_no_pod_has_is_refused() -> None:
    assert codes(families.FAMILIES["rails"][0].replace("rails: 8", "rails: 1000000")) == ["HV010"]


def test_a_loop_over_a_million_numbers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="more than 100,000 numbers"):
        FUNCTIONS["until"]((Value(1_000_000),))


def test_very_long_values_are_not_searched_for_unused_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []

    def recorded(own: object, _: object) -> tuple[()]:
        searched.append(own)
        return ()

    monkeypatch.setattr(effect, "inert_values", recorded)
    lint("nodes: 2\ntrain: {script: train.py}\n")
    lint("nodes: 2\ntrain: {script: train.py}\n" + "#" * values.MAX_SEARCHED)
    assert len(searched) == 1


def test_a_script_is_read_up_to_the_longest_argument_of_a_program() -> None:
    line = "export NCCL_DEBUG=INFO\n"
    found = shell.statements(line * (2 * shell.MAX_LENGTH // len(line)))
    assert len(found) == -(-shell.MAX_LENGTH // len(line))


def test_a_note_names_a_script_that_is_not_read_to_its_end() -> None:
    def notes(length: int) -> tuple[str, ...]:
        script = ("true; " * length)[:length]
        return lint(
            f"""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: long}}
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers:
            - name: pytorch
              command: [bash, -c, '{script}']
"""
        ).notes

    assert notes(shell.MAX_LENGTH) == ()
    assert notes(shell.MAX_LENGTH + 1) == ("input.yaml:11: only the first 128 KiB of this script are checked",)


def test_the_replicas_of_a_run_are_added_up_once() -> None:
    class Roles(tuple[Role, ...]):
        passes = 0

        def __iter__(self) -> Iterator[Role]:
            self.passes += 1
            return super().__iter__()

    project = manifest.load_project(pipeline.read_input(File(Source("job.yaml", JOB))).documents)
    roles = Roles(project.runs[0].roles)
    run = project.runs[0]._replace(roles=roles)
    assert [run.nodes for _ in range(3)] == [project.runs[0].nodes] * 3
    assert roles.passes == 1


def test_a_misspelt_word_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    original = difflib.get_close_matches

    def counted(word: str, *arguments: Any) -> list[str]:
        compared.append(word)
        return original(word, *arguments)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    suggestions._closest.cache_clear()
    lint(families.grown("misspelt words again and again", SMALL))
    assert len(compared) == len(set(compared))
    assert "gradient_cliping" in compared


def test_the_first_missing_objects_of_a_file_are_compared_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(word: str, *_: Any) -> list[str]:
        compared.append(word)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    suggestions._closest.cache_clear()
    report = lint(families.grown("references to no object", 2 * LARGE))
    suggestions._closest.cache_clear()
    found = [finding for finding in report.findings if finding.rule.code == "RF003"]
    assert len(found) == 500
    assert len([word for word in compared if word.startswith("settings-of-run-")]) == 2 * reference_not_found.MOST
