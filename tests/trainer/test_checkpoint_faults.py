"""Disk faults cost a checkpoint, but neither the run nor an existing checkpoint."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.trainer.fake_strategy import FakeStrategy, new_manager, train_state_at
from tests.trainer.faulty_disk import FaultyDisk, file_size_limit
from trainer.checkpoint.catalog import valid_checkpoints
from trainer.checkpoint.manager import CheckpointManager
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
ERRORS = (errno.ENOSPC, errno.EROFS, errno.EIO)
# Smaller than the random state, the first file to be written.
ALMOST_FULL_BYTES = 1000


@pytest.fixture
def strategy() -> FakeStrategy:
    """The strategy whose state is saved."""
    return FakeStrategy()


@pytest.fixture
def manager(tmp_path: Path, strategy: FakeStrategy) -> CheckpointManager:
    """The manager of a run that has saved steps 1 and 2 and keeps two checkpoints, so that each save removes one."""
    manager = new_manager(tmp_path, strategy, keep_checkpoints=2)
    manager.resume()
    for step in (1, 2):
        manager.save(strategy.train_to(step))
    manager.wait(required=True)
    return manager


def newest_step(directory: Path) -> int:
    found = next(valid_checkpoints(directory, Peers()), None)
    assert found is not None
    return found[1].train_state.step


def leftovers(directory: Path) -> list[Path]:
    return list(directory.glob(".tmp-*"))


@pytest.mark.parametrize("lasting", [False, True])
def test_after_any_disk_error_a_valid_checkpoint_remains_and_the_next_save_succeeds(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lasting: bool
) -> None:
    disk = FaultyDisk(monkeypatch)
    manager.save(strategy.train_to(3))
    manager.wait(required=True)
    operations, step = disk.count, 3
    assert operations > 20
    for error in ERRORS:
        for number in range(1, operations + 1):
            failed = manager.metrics.failed
            disk.fail(number, error, lasting=lasting)
            manager.save(strategy.train_to(step + 1))
            manager.wait()
            disk.repair()
            found, refused = newest_step(tmp_path), manager.metrics.failed > failed
            # A failed save may still be found, if only the sync of its name failed.
            assert found == step + 1 or (refused and found == step)
            manager.save(strategy.train_to(step + 2))
            manager.wait(required=True)
            step = newest_step(tmp_path)
            assert step == manager.metrics.newest_step
    assert manager.metrics.failed > operations
    manager.close()
    resumed = FakeStrategy()
    again = new_manager(tmp_path, resumed)
    assert again.resume() == train_state_at(step)
    assert resumed.is_at(step)
    assert leftovers(tmp_path) == []
    again.close()


@pytest.mark.parametrize("background", [False, True])
def test_a_full_disk_is_logged_and_counted_and_the_run_continues(
    tmp_path: Path, strategy: FakeStrategy, capsys: pytest.CaptureFixture[str], background: bool
) -> None:
    manager = new_manager(tmp_path, strategy, async_checkpoints=background)
    manager.resume()
    capsys.readouterr()
    with file_size_limit(ALMOST_FULL_BYTES):
        manager.save(strategy.train_to(1))
        manager.wait_for_staging()
        manager.wait()
    assert capsys.readouterr().out == "checkpoint not saved: step=1 File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    manager.save(strategy.train_to(2))
    manager.wait(required=True)
    assert (manager.metrics.saved, manager.metrics.failed) == (1, 1)
    assert newest_step(tmp_path) == 2
    manager.close()


def test_a_save_that_failed_is_tried_again_for_the_same_step(
    manager: CheckpointManager, strategy: FakeStrategy
) -> None:
    with file_size_limit(ALMOST_FULL_BYTES):
        manager.save(strategy.train_to(3))
        manager.wait()
    manager.save(strategy.train_to(3))
    manager.wait(required=True)
    assert manager.metrics.newest_step == 3
    manager.close()


def test_a_last_save_that_failed_ends_the_run_with_an_error(
    manager: CheckpointManager, strategy: FakeStrategy, tmp_path: Path
) -> None:
    with file_size_limit(ALMOST_FULL_BYTES):
        manager.save(strategy.train_to(3))
        manager.wait()
    with pytest.raises(CheckpointError, match=f"^cannot write checkpoint {tmp_path}/step-00000003: File too large$"):
        manager.wait(required=True)
    manager.close()


def test_memory_that_runs_out_while_copying_is_a_save_that_failed(
    manager: CheckpointManager,
    strategy: FakeStrategy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError("cannot allocate")

    with monkeypatch.context() as patches:
        patches.setattr("trainer.checkpoint.staging.Stager._copied", refuse)
        manager.save(strategy.train_to(3))
        manager.wait_for_staging()
        manager.wait()
    assert "checkpoint not saved: step=3 MemoryError: cannot allocate\n" in capsys.readouterr().out
    manager.close()


def test_peers_that_are_gone_end_the_run_before_the_next_update(
    manager: CheckpointManager, strategy: FakeStrategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr("trainer.checkpoint.manager.publish", lose)
    manager.save(strategy.train_to(3))
    with pytest.raises(RuntimeError, match="Connection closed by peer"):
        manager.wait()
