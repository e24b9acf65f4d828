"""`trainyard diff`: its report, its exit codes, where runs come from, and what it refuses."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
from pathlib import Path

import pytest

from tests.harness.cluster.tools import binary
from tests.validator.diff.test_differences import JOB
from trainyard.cli.main import main
from trainyard.commands.diff import report
from trainyard.commands.diff.comparison import compare
from trainyard.document import reading
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project

ROOT = Path(__file__).parents[3]
CHART = ROOT / "charts" / "training-job"
CORPUS = ROOT / "tests" / "validator" / "rules" / "corpus" / "valid"
BEFORE = 'image: {repository: registry.example.com/llm, tag: "1"}\nnodes: 2\nnccl: {NCCL_DEBUG: INFO}\n'
AFTER = """\
image: {repository: registry.example.com/llm, tag: "2"}
nodes: 4
env: {SEED: 1}
placement: {nodeSelector: {pool: a}}
"""
TEXT = """\
before.yaml (PyTorchJob run) and after.yaml (PyTorchJob run) differ in 7 places.

image
  image: `registry.example.com/llm:1` became `registry.example.com/llm:2`

roles
  nodes: `2` became `4`
  replicas of Worker: `1` became `3`

environment
  SEED: added, `1`

NCCL
  NCCL_DEBUG: removed, `INFO`

placement
  nodeSelector.pool: added, `a`

policies
  runPolicy.backoffLimit: `7` became `13`
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "before.yaml").write_text(BEFORE)
    (tmp_path / "after.yaml").write_text(AFTER)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def test_changes_are_told_by_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before.yaml", "after.yaml"]) == 1
    assert capsys.readouterr().out == TEXT


def test_equal_runs_end_with_0(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "same.yaml").write_text(f"kind: PyTorchJob\n{BEFORE}")
    assert main(["diff", "before.yaml", "same.yaml"]) == 0
    assert capsys.readouterr().out == "before.yaml (PyTorchJob run) and same.yaml (PyTorchJob run) mean the same.\n"


def test_json_has_both_sides_of_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before.yaml", "after.yaml", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["same"]) == (1, False)
    assert found["before"] == {"source": "before.yaml", "kind": "PyTorchJob", "name": "run"}
    expected: dict[str, object] = {"topic": "NCCL", "name": "NCCL_DEBUG", "before": "INFO", "after": None, "roles": []}
    assert expected in found["changes"]
    assert main(["diff", "job.yaml", "job.yaml", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] == []


def test_a_script_is_compared_by_lines(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    script = 'command: [sh, -c]\n              args: ["set -e\\npython %s.py\\n"]'
    words = (
        'command: [torchrun, --tee=3, train.py]\n              args: [--lr, "0.1", --epochs=3, --data, llm-master-0]'
    )
    assert words in JOB
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(JOB.replace(words, script % name))
    assert main(["diff", "one.yaml", "two.yaml"]) == 1
    assert "\nprogram\n  script:\n    - python one.py\n    + python two.py\n" in capsys.readouterr().out


@pytest.mark.parametrize("scenario", ["trainjob", "mpi", "elastic"])
def test_values_mean_the_same_as_the_manifest_of_their_release(
    scenario: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    values = CHART / "ci" / f"{scenario}-values.yaml"
    command = [str(binary("helm")), "template", "vit", str(CHART), "-f", str(values)]
    (folder / "manifest.yaml").write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert main(["diff", "manifest.yaml", str(values)]) == 0, capsys.readouterr().out


def test_a_site_gives_the_values_of_both_sides(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "site.yaml").write_text('runs: {image: {repository: registry.example.com/llm, tag: "1"}}\n')
    (folder / "short.yaml").write_text("nodes: 2\nnccl: {NCCL_DEBUG: INFO}\n")
    assert main(["diff", "before.yaml", "short.yaml"]) == 1
    capsys.readouterr()
    assert main(["diff", "before.yaml", "short.yaml", "--site", "site.yaml"]) == 0, capsys.readouterr().out


def test_one_side_may_be_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(JOB.encode())))
    assert main(["diff", "-", "job.yaml"]) == 0
    assert capsys.readouterr().out.startswith("standard input (PyTorchJob llm) and job.yaml (PyTorchJob llm) mean the")


def test_releases_and_jobs_come_from_helm_and_kubectl(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    program(folder, "helm", '[ "$*" = "get manifest llm --namespace research" ] && cat job.yaml')
    program(folder, "kubectl", '[ "$*" = "get pytorchjob llm -o yaml --namespace research" ] && cat job.yaml')
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert main(["diff", "release/llm", "pytorchjob/llm", "--namespace", "research"]) == 0
    assert "release/llm (PyTorchJob llm) and pytorchjob/llm (PyTorchJob llm) mean the same" in capsys.readouterr().out


def test_a_cluster_that_does_not_answer_gets_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    program(folder, "helm", "echo 'Error: release: not found' >&2; exit 1")
    monkeypatch.setenv("PATH", str(folder))
    assert main(["diff", "release/llm", "job.yaml"]) == 2
    assert capsys.readouterr().err == "Error: release/llm: `helm get manifest llm` failed: Error: release: not found\n"
    assert main(["diff", "job.yaml", "trainjob/llm"]) == 2
    assert "trainjob/llm: kubectl is not on PATH; install it, or name a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "-"], "only one side can be standard input"),
        (["missing.yaml", "job.yaml"], "missing.yaml: no such file"),
        (["broken.yaml", "job.yaml"], "broken.yaml:1:4"),
        (["empty.yaml", "job.yaml"], "empty.yaml: no run is in it"),
        (["two.yaml", "job.yaml"], "it holds 2 runs (PyTorchJob llm, PyTorchJob other); choose one with --job NAME"),
        (["refused.yaml", "job.yaml"], "refused.yaml: the chart refuses these values: "),
        (["job.yaml", "job.yaml", "--site", "job.yaml"], "job.yaml: this is a PyTorchJob"),
    ],
)
def test_a_side_without_a_run_gets_a_reason(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "broken.yaml").write_text("a: ]\n")
    (folder / "empty.yaml").write_text("")
    (folder / "two.yaml").write_text(f"{JOB}---\n{JOB.replace('name: llm', 'name: other')}")
    (folder / "refused.yaml").write_text("nodes: 0\nprocessesPerNode: 1\n")
    assert main(["diff", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_one_of_several_runs_is_chosen(folder: Path) -> None:
    (folder / "two.yaml").write_text(f"{JOB}---\n{JOB.replace('name: llm', 'name: other')}")
    assert main(["diff", "two.yaml", "job.yaml", "--job", "llm"]) == 0


def test_every_run_of_the_corpus_is_comparable_with_the_next_one() -> None:
    runs = []
    for path in sorted(CORPUS.glob("*.yaml")):
        documents, _ = reading.read(Source(path.name, path.read_text(encoding="utf-8")))
        runs += [run for run in load_project(documents).runs if run.is_job]
    assert len(runs) > 70
    for one, other in itertools.pairwise(runs):
        assert compare(one, one) == []
        changes = compare(one, other)
        assert report.text(("a", one), ("b", other), changes)
        json.dumps(report.tree(("a", one), ("b", other), changes), default=str)


def program(folder: Path, name: str, script: str) -> None:
    """Write a program that stands for one that asks a cluster."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
