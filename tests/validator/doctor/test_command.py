"""`trainyard doctor`: what it reads, what it prints, its exit codes, and how it refuses."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from trainyard.cli import main
from trainyard.commands.doctor import reading
from trainyard.commands.doctor.diagnosis import diagnose

OOM = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n"
LOST = "[rank9]: ncclRemoteError: A call failed possibly due to a network error\n"
ROOT_CAUSE = """\
Root Cause (first observed failure):
[0]:
  time      : 2026-03-01_12:07:{second}
  host      : llm-worker-1
  rank      : {rank} (local_rank: 1)
  exitcode  : {code} (pid: 92)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the logs of two pods, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "worker-0.log").write_text(LOST)
    (tmp_path / "logs" / "worker-1.log").write_text(f"step 1\n{OOM}")
    return tmp_path


def _run(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main.main(["doctor", *words])
    out, err = capfd.readouterr()
    return code, out, err


def test_the_text_names_the_cause_its_line_and_the_first_failure(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = _run(capfd, "logs")
    assert code == 1
    assert out.startswith("first failure: rank 3 (logs/worker-1.log:2)")
    assert "after it: rank 9" in out
    assert "logs/worker-1.log:2: a GPU has too little memory (cuda-out-of-memory), confidence high" in out
    assert "followed from it: logs/worker-0.log:1:" in out
    assert not err


def test_the_json_has_the_same(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capfd, "--format", "json", "logs")
    tree = json.loads(out)
    assert code == 1
    assert [cause["cause"] for cause in tree["causes"]] == ["cuda-out-of-memory"]
    assert tree["causes"][0]["evidence"]["line"] == 2
    assert tree["first_failure"]["origin"] == "rank 3"
    assert tree["taken_down"] == ["rank 9"]


def test_a_healthy_log_ends_with_0(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("fine.log").write_text("step 1 loss 2.1\n")
    code, out, _ = _run(capfd, "fine.log")
    assert code == 0
    assert out.startswith("No known cause in 1 line of 1 log.")


def test_standard_input_is_read(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OOM.encode())))
    code, out, _ = _run(capfd, "-")
    assert code == 1
    assert "-:1: a GPU has too little memory" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("absent.log",), "absent.log: no such file or folder"),
        (("empty",), "empty: the folder has no files"),
        (("core.bin",), "core.bin: the file is binary"),
        (("old.log.gz",), "old.log.gz: the file is compressed"),
        ((), "Missing argument"),
    ],
)
def test_a_mistake_ends_with_2_and_one_message(
    words: tuple[str, ...], message: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    Path("core.bin").write_bytes(b"\x7fELF\0\0" + os.urandom(64))
    Path("old.log.gz").write_bytes(b"\x1f\x8b\x08")
    code, out, err = _run(capfd, *words)
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err


def test_a_binary_file_in_a_folder_is_named_and_the_rest_is_read(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("logs/core.bin").write_bytes(b"\0" * 64)
    code, out, err = _run(capfd, "logs")
    assert code == 1
    assert "cuda-out-of-memory" in out
    assert err.startswith("not read: logs/core.bin: the file is binary")


def test_control_characters_of_a_log_do_not_reach_the_terminal(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad.log").write_text("\x1b]0;title\x07CUDA out of memory\n")
    _, out, _ = _run(capfd, "bad.log")
    assert "\x1b" not in out


def test_the_earliest_root_cause_of_several_nodes_wins(folder: Path) -> None:
    Path("a.log").write_text(OOM + ROOT_CAUSE.format(second=22, rank=3, code=1))
    Path("b.log").write_text(ROOT_CAUSE.format(second=20, rank=12, code=1))
    Path("c.log").write_text(ROOT_CAUSE.format(second=10, rank=20, code=-15))
    first = diagnose(["a.log", "b.log", "c.log"]).first
    assert first is not None
    assert (first.origin, first.file, first.line, first.confidence) == ("rank 12", "b.log", 5, "high")


def test_logs_without_times_do_not_tell_who_failed_first(folder: Path) -> None:
    Path("a.log").write_text(OOM)
    Path("b.log").write_text(OOM.replace("rank3", "rank5"))
    assert diagnose(["a.log", "b.log"]).first is None


def test_a_report_that_spans_two_blocks_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK", 64)
    Path("a.log").write_text(OOM + ROOT_CAUSE.format(second=22, rank=7, code=1))
    first = diagnose(["a.log"]).first
    assert first is not None
    assert first.origin == "rank 7"


def test_a_line_without_end_takes_bounded_memory_and_is_searched(folder: Path) -> None:
    Path("a.log").write_text("." * (5 << 20) + "CUDA out of memory" + "." * (1 << 20))
    assert max(len(block.data) for block in reading.blocks("a.log")) <= 2 << 20
    (evidence,) = diagnose(["a.log"]).causes
    assert len(evidence.lines[0].text) < 3000


def test_the_last_part_of_a_progress_bar_is_the_evidence(folder: Path) -> None:
    Path("a.log").write_text("1%\r2%\r" * 1000 + "RuntimeError: CUDA out of memory\r3%\n")
    (evidence,) = diagnose(["a.log"]).causes
    assert evidence.lines[0].text == "RuntimeError: CUDA out of memory"
