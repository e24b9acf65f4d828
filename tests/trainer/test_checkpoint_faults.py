"""A disk that refuses costs a checkpoint, never the run, and never a checkpoint that was there before."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from trainer.checkpoint.catalogue import newest_valid
from trainer.checkpoint.manager import CheckpointManager
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

from .disk import Disk, limited
from .toy import Toy, manager_of, progress_at

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EIO)
# Smaller than the random state, which is the first file.
ALMOST_FULL_BYTES = 1000


@pytest.fixture
def toy() -> Toy:
    """What is saved."""
    return Toy()


@pytest.fixture
def manager(tmp_path: Path, toy: Toy) -> CheckpointManager:
    """That of a run that has saved steps 1 and 2 and keeps no more, so that each save removes a checkpoint."""
    manager = manager_of(tmp_path, toy, keep_checkpoints=2)
    manager.resume()
    for step in (1, 2):
        manager.save(toy.train_to(step))
    manager.wait(required=True)
    return manager


def newest_step(directory: Path) -> int:
    found = newest_valid(directory, Peers())
    assert found is not None
    return found[1].progress.step


def leftovers(directory: Path) -> list[Path]:
    return list(directory.glob(".tmp-*"))


@pytest.mark.parametrize("lasting", [False, True])
def test_whatever_the_disk_refuses_a_valid_checkpoint_stays_and_the_next_save_succeeds(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lasting: bool
) -> None:
    disk = Disk(monkeypatch)
    manager.save(toy.train_to(3))
    manager.wait(required=True)
    operations, step = disk.count, 3
    assert operations > 20
    for error in ERRORS:
        for number in range(1, operations + 1):
            failed = manager.figures.failed
            disk.fail(number, error, lasting=lasting)
            manager.save(toy.train_to(step + 1))
            manager.wait()
            disk.repair()
            found, refused = newest_step(tmp_path), manager.figures.failed > failed
            # It may be there though it failed: when all that was refused is to make its name durable.
            assert found == step + 1 or (refused and found == step)
            manager.save(toy.train_to(step + 2))
            manager.wait(required=True)
            step = newest_step(tmp_path)
            assert step == manager.figures.newest_step
    assert manager.figures.failed > operations
    manager.close()
    resumed = Toy()
    again = manager_of(tmp_path, resumed)
    assert again.resume() == progress_at(step)
    assert resumed.is_at(step)
    assert leftovers(tmp_path) == []
    again.close()


@pytest.mark.parametrize("background", [False, True])
def test_a_full_disk_is_named_and_counted_and_the_run_goes_on(
    tmp_path: Path, toy: Toy, capsys: pytest.CaptureFixture[str], background: bool
) -> None:
    manager = manager_of(tmp_path, toy, async_checkpoints=background)
    manager.resume()
    capsys.readouterr()
    with limited(ALMOST_FULL_BYTES):
        manager.save(toy.train_to(1))
        manager.before_update()
        manager.wait()
    assert capsys.readouterr().out == "checkpoint not saved: step=1 File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    manager.save(toy.train_to(2))
    manager.wait(required=True)
    assert (manager.figures.saved, manager.figures.failed) == (1, 1)
    assert newest_step(tmp_path) == 2
    manager.close()


def test_a_save_that_failed_is_tried_again_for_the_same_step(manager: CheckpointManager, toy: Toy) -> None:
    with limited(ALMOST_FULL_BYTES):
        manager.save(toy.train_to(3))
        manager.wait()
    manager.save(toy.train_to(3))
    manager.wait(required=True)
    assert manager.figures.newest_step == 3
    manager.close()


def test_a_last_save_that_failed_ends_the_run_with_an_error(
    manager: CheckpointManager, toy: Toy, tmp_path: Path
) -> None:
    with limited(ALMOST_FULL_BYTES):
        manager.save(toy.train_to(3))
        manager.wait()
    with pytest.raises(CheckpointError, match=f"^cannot write checkpoint {tmp_path}/step-00000003: File too large$"):
        manager.wait(required=True)
    manager.close()


def test_memory_that_runs_out_while_copying_is_a_save_that_failed(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError("cannot allocate")

    with monkeypatch.context() as patches:
        patches.setattr("trainer.checkpoint.staging.Stager._copied", refuse)
        manager.save(toy.train_to(3))
        manager.before_update()
        manager.wait()
    assert "checkpoint not saved: step=3 MemoryError: cannot allocate\n" in capsys.readouterr().out
    manager.close()


def test_peers_that_are_gone_end_the_run_before_the_next_update(
    manager: CheckpointManager, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr("trainer.checkpoint.manager.publish", lose)
    manager.save(toy.train_to(3))
    with pytest.raises(RuntimeError, match="Connection closed by peer"):
        manager.wait()
