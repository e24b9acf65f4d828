"""Evaluating a checkpoint on any machine that has the volume."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harness.trainer.launch import Finished
from trainer import evaluate
from trainer.data import load_data


def test_accuracy_equals_that_of_the_run(runs: dict[int, Finished], capsys: pytest.CaptureFixture[str]) -> None:
    for run in runs.values():
        assert evaluate.main([str(run.directory)]) == 0
        line = capsys.readouterr().out
        score = str(run.lines[-1]).partition(" test_loss=")[2]
        path = run.directory / "step-00000135"
        assert line == f"checkpoint: epoch=3 step=135 test_loss={score} parameters=9610 path={path}\n"


def test_an_invalid_checkpoint_is_logged_and_the_older_one_evaluated(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trained / "step-00000135" / "manifest.json").unlink()
    assert evaluate.main([str(trained)]) == 0
    skipped, shown = capsys.readouterr().out.splitlines()
    assert skipped.startswith(f"skipped invalid checkpoint {trained}/step-00000135: ")
    assert re.match(r"checkpoint: epoch=2 step=90 ", shown)


def test_prints_in_the_pod_of_any_rank(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    assert evaluate.main([str(trained)]) == 0
    assert capsys.readouterr().out.startswith("checkpoint: epoch=3 ")


@pytest.mark.filterwarnings("error")
def test_prints_one_line_and_writes_no_file(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    assert evaluate.main([str(trained)]) == 0
    said = capsys.readouterr()
    assert (len(said.out.splitlines()), said.err) == (1, "")
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before


def test_other_data_than_it_was_trained_on_are_refused(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "load_data", lambda config: replace(load_data(config), fingerprint="other-4567"))
    assert evaluate.main([str(trained)]) == 1
    assert re.search(r"was trained on other data \(digits-\w+\) than data contains now", capsys.readouterr().err)


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_without_a_checkpoint_the_message_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "empty").mkdir()
    assert evaluate.main([str(tmp_path / name)]) == 1
    assert f"no valid checkpoint in {tmp_path}/{name}: write the --checkpoint-dir of a run" in capsys.readouterr().err
