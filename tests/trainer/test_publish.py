"""A checkpoint is published whole or not at all, and what was there before stays as it was."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from trainer.checkpoint.publish import Write, publish
from trainer.errors import CheckpointError

from .disk import limited

WEIGHTS = torch.zeros(1_000_000)
FILES: dict[str, Write] = {"model.pt": lambda stream: torch.save(WEIGHTS, stream)}


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below `directory`."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_a_reader_finds_all_or_nothing_whatever_line_the_writer_is_killed_at(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "tests.trainer.crash", str(tmp_path)], capture_output=True, text=True, check=True
    )
    attempts = [tuple(line.split("\t")) for line in finished.stdout.splitlines()]
    new, older = zip(*attempts, strict=True)
    assert [state for state, _ in itertools.groupby(new)] == ["nothing", "whole"]
    assert set(older) == {"whole"}
    assert len(attempts) > 50


def test_everything_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, rename = os.fsync, os.rename

    def recorded_fsync(descriptor: int) -> None:
        fsync(descriptor)
        events.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    def recorded_rename(source: Path, target: Path) -> None:
        rename(source, target)
        events.append(f"{source.name} becomes {target.name}")

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "rename", recorded_rename)
    publish(tmp_path / "epoch-0001", FILES)
    temporary = events[2]
    assert events == ["model.pt", "manifest.json", temporary, f"{temporary} becomes epoch-0001", tmp_path.name]


def test_an_existing_checkpoint_is_never_overwritten(tmp_path: Path) -> None:
    publish(tmp_path / "epoch-0001", FILES)
    before = contents(tmp_path)
    with pytest.raises(CheckpointError, match="it exists and is never overwritten"):
        publish(tmp_path / "epoch-0001", {"model.pt": lambda stream: torch.save(WEIGHTS + 1, stream)})
    assert contents(tmp_path) == before


# The tensor does not fit; it fits, but the last bytes of the file, in a buffer when torch.save returns, do not.
@pytest.mark.parametrize("size", [2_000_000, 4_000_500])
def test_a_full_disk_is_an_error_that_leaves_nothing_behind(tmp_path: Path, size: int) -> None:
    with pytest.raises(CheckpointError, match=r"cannot write checkpoint .*/epoch-0002: File too large"), limited(size):
        publish(tmp_path / "epoch-0002", FILES)
    assert list(tmp_path.iterdir()) == []
