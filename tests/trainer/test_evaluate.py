"""Anyone who has the volume can verify and evaluate a checkpoint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainer import evaluate

from .launch import Finished


def test_accuracy_computed_afresh_equals_the_run_s(
    runs: dict[int, Finished], capsys: pytest.CaptureFixture[str]
) -> None:
    for run in runs.values():
        assert evaluate.main([str(run.directory)]) == 0
        line = capsys.readouterr().out
        accuracy = run.epochs[-1][2]
        path = run.directory / "epoch-0003"
        assert line == f"checkpoint: epoch=3 test_accuracy={accuracy:.4f} parameters=9610 path={path}\n"


def test_an_invalid_checkpoint_is_named_and_the_older_one_shown(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (trained / "epoch-0003" / "manifest.json").unlink()
    assert evaluate.main([str(trained)]) == 0
    skipped, shown = capsys.readouterr().out.splitlines()
    assert skipped.startswith(f"skipped invalid checkpoint {trained}/epoch-0003: ")
    assert re.match(r"checkpoint: epoch=2 ", shown)


def test_is_heard_in_the_pod_of_any_rank(
    trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    assert evaluate.main([str(trained)]) == 0
    assert capsys.readouterr().out.startswith("checkpoint: epoch=3 ")


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_without_a_checkpoint_the_message_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "empty").mkdir()
    assert evaluate.main([str(tmp_path / name)]) == 1
    assert f"no valid checkpoint in {tmp_path}/{name}: write the --checkpoint-dir of a run" in capsys.readouterr().err
