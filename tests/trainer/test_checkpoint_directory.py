"""The checkpoint directory: locking, permissions, retention and cleanup."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trainer.fake_strategy import FakeStrategy, new_manager, run
from tests.trainer.faulty_disk import file_size_limit
from trainer.checkpoint.catalog import checkpoint_path, list_checkpoints
from trainer.checkpoint.directory import open_directory
from trainer.checkpoint.lock import Lock
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.retention import move_aside_newer_than, move_newest_aside, prune
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
NOBODY = 65534


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A directory that this process cannot write to, even if the tests run as root."""
    # Not below tmp_path, because only its owner can enter the parent directories.
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield directory
    os.seteuid(user)
    shutil.rmtree(directory)


@pytest.mark.parametrize(
    ("every", "kept"),
    [(0, ["step-00000007", "step-00000008"]), (3, [f"step-0000000{step}" for step in (3, 6, 7, 8)])],
)
def test_the_newest_checkpoints_and_one_every_n_steps_are_kept(tmp_path: Path, every: int, kept: list[str]) -> None:
    run(tmp_path, *range(1, 9), keep_checkpoints=2, keep_every=every)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", *kept]


def test_an_old_checkpoint_is_removed_only_after_a_newer_one_is_saved(tmp_path: Path) -> None:
    run(tmp_path, 1, 2, 3)
    strategy = FakeStrategy()
    manager = new_manager(tmp_path, strategy, keep_checkpoints=2)
    manager.resume()
    with file_size_limit(1000):
        manager.save(strategy.train_to(4))
        manager.wait()
    assert [step for step, _ in list_checkpoints(tmp_path)] == [3, 2, 1]
    manager.save(strategy.train_to(5))
    manager.close()
    assert [step for step, _ in list_checkpoints(tmp_path)] == [5, 3]


def test_a_checkpoint_that_cannot_be_removed_is_logged_and_the_run_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, 1, 2)
    rename = os.rename

    def refuse_old(source: Path, target: Path) -> None:
        if source.name == "step-00000001":
            raise OSError(5, os.strerror(5))
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse_old)
    run(tmp_path, 3, keep_checkpoints=2)
    assert f"cannot remove {tmp_path}/step-00000001: Input/output error\n" in capsys.readouterr().out
    assert [step for step, _ in list_checkpoints(tmp_path)] == [3, 2, 1]


def test_a_checkpoint_is_moved_aside_only_if_it_is_the_newest_and_an_earlier_one_is_left(directory: Path) -> None:
    assert move_newest_aside(directory, 1) is None
    assert move_newest_aside(directory, 3) is None
    assert move_newest_aside(directory, 2) == directory / "step-00000002"
    assert move_newest_aside(directory, 1) is None
    assert [step for step, _ in list_checkpoints(directory)] == [1]


def test_checkpoints_after_step_zero_are_set_aside_by_a_run_that_resumes_there(tmp_path: Path) -> None:
    for step in (0, 1, 2):
        checkpoint_path(tmp_path, step).mkdir()
    assert move_aside_newer_than(directory=tmp_path, step=0, afresh=False) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".invalid-step-00000001",
        ".invalid-step-00000002",
        "step-00000000",
    ]


def test_checkpoints_of_one_step_that_are_set_aside_are_numbered(tmp_path: Path) -> None:
    for _ in range(3):
        checkpoint_path(tmp_path, 1).mkdir()
        move_aside_newer_than(tmp_path, 0, afresh=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".invalid-step-00000001",
        ".invalid-step-00000001-2",
        ".invalid-step-00000001-3",
    ]


def test_a_directory_that_cannot_be_listed_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.touch()
    expected = f"cannot list checkpoint directory {file}: Not a directory"
    with pytest.raises(CheckpointError, match=f"^{expected}$"):
        list_checkpoints(file)
    prune(directory=file, newest=1, every=0)
    assert capsys.readouterr().out == f"{expected}\n"


def first_of_two() -> Peers:
    """Returns the first of two ranks; the other one does the same."""
    peers = Peers()
    peers.size = 2
    return peers


def test_a_rank_that_cannot_write_is_named_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    lock = Lock()
    with monkeypatch.context() as patches:
        patches.setattr(Path, "touch", refuse)
        with pytest.raises(
            CheckpointError,
            match=f"^rank 0 cannot write to checkpoint directory {tmp_path}: Read-only file system: mount its volume",
        ):
            open_directory(tmp_path, lock, first_of_two())
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    lock.release()


def test_a_probe_that_cannot_be_removed_at_once_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    lock = Lock()
    with monkeypatch.context() as patches:
        patches.setattr(os, "rmdir", refuse)
        open_directory(tmp_path, lock, first_of_two())
    lock.release()
    open_directory(tmp_path, lock, first_of_two())
    assert [path.name for path in tmp_path.iterdir()] == [".lock"], "the next start removes it"
    lock.release()


def test_leftovers_of_a_crashed_run_are_removed_on_the_next_start(tmp_path: Path) -> None:
    leftover = tmp_path / ".tmp-step-00000004-0123"
    leftover.mkdir()
    (leftover / "__0_0.distcp").write_text("half")
    run(tmp_path)
    assert not leftover.exists()


def test_a_second_run_on_the_same_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.checkpoint.directory.LEASE_SECONDS", 0.1)
    lock = Lock()
    assert lock.acquire(tmp_path)
    with pytest.raises(CheckpointError, match=f"another run is writing to {tmp_path}: .* another --checkpoint-dir"):
        new_manager(tmp_path, FakeStrategy()).resume()
    lock.release()
    run(tmp_path)


def test_a_directory_that_cannot_be_written_is_an_error_before_training(
    read_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        CheckpointError,
        match=f"cannot write to checkpoint directory {read_only}: Permission denied: give user \\d+ write access",
    ):
        new_manager(read_only, FakeStrategy()).resume()
    assert capsys.readouterr().out == ""


def test_a_directory_that_cannot_be_created_is_an_error_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"file/checkpoints: Not a directory: .* write another --checkpoint-dir"):
        new_manager(tmp_path / "file" / "checkpoints", FakeStrategy()).resume()
