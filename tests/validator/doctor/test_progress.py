"""Errors that a run went on after, and the line of the program in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose

OOM = "[rank0]: torch.OutOfMemoryError: CUDA out of memory.\n"
TRACEBACK = """[rank3]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank3]:   File "/workspace/train.py", line 88, in main
[rank1]:   File "/workspace/train.py", line 12, in load
[rank3]:     loss = model(batch)
[rank3]:   File "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1739, in _wrapped_call_impl
[rank3]: my.library.Refused
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "a.log"


def _steps(prefix: str, count: int) -> str:
    return "".join(f"{prefix}step {number} loss: 2.{number}\n" for number in range(count))


def _diagnosis(log: Path, text: str) -> Diagnosis:
    log.write_text(text)
    return diagnose([str(log)])


def _names(result: Diagnosis) -> list[str]:
    return [evidence.cause.name for evidence in result.causes]


def test_an_error_that_the_rank_went_on_after_is_no_cause(log: Path) -> None:
    result = _diagnosis(log, OOM + _steps("[rank0]: ", 4))
    assert not result.causes
    assert [evidence.cause.name for evidence in result.survived] == ["cuda-out-of-memory"]


def test_an_error_that_comes_again_is_one(log: Path) -> None:
    assert _names(_diagnosis(log, OOM + _steps("[rank0]: ", 4) + OOM)) == ["cuda-out-of-memory"]


@pytest.mark.parametrize("steps", [_steps("[rank1]: ", 9), _steps("[rank0]: ", 2), "[rank0]: loss: nan\n" * 9])
def test_steps_of_others_or_few_or_without_a_number_do_not_show_that_it_went_on(log: Path, steps: str) -> None:
    assert "cuda-out-of-memory" in _names(_diagnosis(log, OOM + steps))


def test_what_fails_after_the_end_of_the_training_is_a_cause(log: Path) -> None:
    assert _names(_diagnosis(log, "{'train_runtime': 9.1}\n" + OOM)) == ["cuda-out-of-memory"]


@pytest.mark.parametrize(
    "prefix", ["", "[pod/llm-worker-0/trainer] ", "2026-01-02T03:04:05.6Z ", "(Worker pid=7, ip=10.0.0.1) "]
)
def test_an_exception_of_any_name_has_the_line_of_the_program(log: Path, prefix: str) -> None:
    result = _diagnosis(log, "".join(f"{prefix}{line}\n" for line in TRACEBACK.splitlines()))
    assert _names(result) == ["program-failed"]
    (line,) = result.causes[0].lines
    assert (line.origin, line.frame) == ("rank 3", "/workspace/train.py:88")
