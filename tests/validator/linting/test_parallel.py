"""Many files at once: clean files are screened in parallel and cached, and no finding is lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tools.bench.validator import corpus
from trainyard.cli import main
from trainyard.linting import parallel

COUNT = 2 * parallel.MANY
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: nccl
  namespace: team-3
data:
  NCCL_IB_DISABLE: "true"
"""

Lint = Callable[..., tuple[int, list[tuple[str, int, str]]]]


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A folder of clean jobs, with an empty cache."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return corpus.write(tmp_path / "jobs", COUNT)


@pytest.fixture
def lint(capfd: pytest.CaptureFixture[str]) -> Lint:
    """A function that runs the command and returns its exit status, with file, line and code of each finding."""

    def run(*arguments: str) -> tuple[int, list[tuple[str, int, str]]]:
        code = main.main(["lint", "jobs", "--output-format", "json", *arguments])
        report: dict[str, Any] = json.loads(capfd.readouterr().out)
        assert len(report["files"]) == len(list(Path("jobs").iterdir()))
        found = [(finding["location"], finding["rule"]) for finding in report["findings"]]
        return code, [(Path(at["path"]).name, at["line"], rule) for at, rule in found]

    return run


def spoil(job: Path) -> None:
    """Write a word in place of a number that NCCL reads, in both pods of a job."""
    job.write_text(
        job.read_text().replace(
            "NCCL_DEBUG\n                  value: WARN", 'NCCL_IB_DISABLE\n                  value: "true"'
        )
    )


def test_a_folder_of_clean_jobs_is_clean_with_and_without_the_cache(jobs: list[Path], lint: Lint) -> None:
    assert lint() == (0, [])
    assert lint() == (0, [])


def test_findings_are_those_of_each_file_linted_alone(jobs: list[Path], lint: Lint) -> None:
    spoil(jobs[7])
    spoil(jobs[100])
    code, found = lint()
    assert code == 1
    assert {(name, rule) for name, _, rule in found} == {(jobs[7].name, "NC005"), (jobs[100].name, "NC005")}
    assert len(found) == 4
    assert lint() == (code, found)


def test_a_changed_file_is_linted_again(jobs: list[Path], lint: Lint) -> None:
    assert lint() == (0, [])
    spoil(jobs[3])
    assert {name for name, _, _ in lint()[1]} == {jobs[3].name}
    jobs[3].write_text(corpus.job(3))
    assert lint() == (0, [])


_recorders: list[list[str]] = []


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _recorders and isinstance(arguments[0], str):
        _recorders[-1].append(arguments[0])


# Python never removes such a hook.
sys.addaudithook(_record)


@contextmanager
def recorded_opens(names: list[str]) -> Iterator[None]:
    """Add the name of each file that is opened."""
    _recorders.append(names)
    try:
        yield
    finally:
        _recorders.pop()


def test_a_cached_file_is_not_read_again(jobs: list[Path], lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lint() == (0, [])
    monkeypatch.setattr("trainyard.processors.available", lambda: 1)
    opened: list[str] = []
    with recorded_opens(opened):
        assert lint() == (0, [])
        assert not [name for name in opened if "/jobs/" in name or name.startswith("jobs/")]
        spoil(jobs[5])
        lint()
    assert {Path(name).name for name in opened if name.startswith("jobs/")} == {jobs[5].name}


def test_the_cache_of_one_selection_of_rules_is_not_used_for_another(jobs: list[Path], lint: Lint) -> None:
    assert lint("--select", "SH") == (0, [])
    spoil(jobs[9])
    assert lint("--select", "SH") == (0, [])
    assert {name for name, _, _ in lint("--select", "NC")[1]} == {jobs[9].name}


def test_an_object_that_runs_can_refer_to_causes_all_files_to_be_linted_together(jobs: list[Path], lint: Lint) -> None:
    assert lint() == (0, [])
    user = jobs[3]
    text = user.read_text()
    assert "namespace: team-3" in text
    env_from = "              envFrom:\n                - configMapRef: {name: nccl}\n              env:\n"
    user.write_text(text.replace("              env:\n", env_from))
    Path("jobs/nccl.yaml").write_text(CONFIG_MAP)
    assert {(name, rule) for name, _, rule in lint()[1]} == {("nccl.yaml", "NC005")}


def test_a_broken_file_among_many_is_named(jobs: list[Path], lint: Lint) -> None:
    jobs[11].write_text("kind: PyTorchJob\nspec: [\n")
    code, found = lint()
    assert code == 1
    assert [(name, rule) for name, _, rule in found] == [(jobs[11].name, "HV009")]


def test_a_suppression_in_a_file_applies_there(jobs: list[Path], lint: Lint) -> None:
    spoil(jobs[2])
    allowed = 'value: "true"  # trainyard: allow nccl-word-boolean: an old image that maps it'
    jobs[2].write_text(jobs[2].read_text().replace('value: "true"', allowed))
    assert lint() == (0, [])


@pytest.mark.parametrize("processors", [1, 2, 5])
def test_any_number_of_processes_gives_the_same_findings(
    jobs: list[Path], lint: Lint, processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.processors.available", lambda: processors)
    monkeypatch.setattr(parallel, "MANY", 8)
    for number in (0, 1, 50, COUNT - 1):
        spoil(jobs[number])
    names = {jobs[number].name for number in (0, 1, 50, COUNT - 1)}
    assert {name for name, _, _ in lint()[1]} == names
