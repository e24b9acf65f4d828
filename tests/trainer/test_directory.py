"""The checkpoint directory: who may write there, what is kept and what is cleaned up."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainer.checkpoint.catalogue import published
from trainer.checkpoint.lock import lock
from trainer.checkpoint.publish import publish
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.loop import train
from trainer.runtime.distributed import World

from .disk import limited

NOBODY = 65534


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A directory that this process may not write, even when the tests run as root."""
    # Not below tmp_path, whose parents only their owner may enter.
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield directory
    os.seteuid(user)
    shutil.rmtree(directory)


def test_the_newest_checkpoints_are_kept(tmp_path: Path, alone: World) -> None:
    train(TrainerConfig(checkpoint_dir=tmp_path, epochs=5, keep_checkpoints=2), alone)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "epoch-0004", "epoch-0005"]


def test_an_old_checkpoint_is_removed_only_when_a_newer_one_is_published(trained: Path, alone: World) -> None:
    with pytest.raises(CheckpointError, match="epoch-0004: File too large"), limited(1000):
        train(TrainerConfig(checkpoint_dir=trained, epochs=4, keep_checkpoints=2), alone)
    assert [epoch for epoch, _ in published(trained)] == [3, 2, 1]


def test_a_dead_writer_s_leftovers_are_removed_on_the_next_start(trained: Path, alone: World) -> None:
    leftover = trained / ".tmp-epoch-0004-0123"
    leftover.mkdir()
    (leftover / "model.pt").write_text("half")
    train(TrainerConfig(checkpoint_dir=trained), alone)
    assert not leftover.exists()


def test_a_second_run_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    assert lock(tmp_path)
    with pytest.raises(CheckpointError, match=f"another run is writing to {tmp_path}: .* another --checkpoint-dir"):
        lock(tmp_path)


def test_a_directory_that_cannot_be_written_is_an_error_before_training(
    read_only: Path, alone: World, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        CheckpointError,
        match=f"cannot write to checkpoint directory {read_only}: Permission denied: give user \\d+ write access",
    ):
        train(TrainerConfig(checkpoint_dir=read_only), alone)
    assert capsys.readouterr().out == ""


def test_a_directory_that_cannot_be_created_is_an_error_before_training(tmp_path: Path, alone: World) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"file/checkpoints: Not a directory: .* write another --checkpoint-dir"):
        train(TrainerConfig(checkpoint_dir=tmp_path / "file" / "checkpoints"), alone)


def test_a_directory_that_becomes_read_only_is_an_error_that_names_the_checkpoint(read_only: Path) -> None:
    with pytest.raises(CheckpointError, match=f"cannot write checkpoint {read_only}/epoch-0004: Permission denied"):
        publish(read_only / "epoch-0004", {})
