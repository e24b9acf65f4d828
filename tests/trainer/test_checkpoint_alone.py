"""A replica that has lost its peers saves the whole state, if it has it and it is newer than the last checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.trainer.fake_strategy import FakeStrategy, SingleProcessWorld, new_manager, run
from trainer.checkpoint.catalog import list_checkpoints
from trainer.checkpoint.lock import Lock
from trainer.runtime.launch import Launch

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def saved(directory: Path, step: int, *, size: int = 2, is_replica: bool = True) -> list[int]:
    """Returns the steps of the checkpoints after rank 0 of a run of `size` ranks, which resumed, saves alone."""
    world = SingleProcessWorld(launch=Launch(size=size), backend="none", device=torch.device("cpu"))
    strategy = FakeStrategy()
    strategy.is_replica = is_replica
    manager = new_manager(directory, strategy, world)
    manager.resume()
    manager.save_alone(strategy.train_to(step))
    manager.close()
    return [number for number, _ in list_checkpoints(directory)]


def test_a_replica_that_lost_its_peers_saves_alone(tmp_path: Path) -> None:
    run(tmp_path, 1)
    assert saved(tmp_path, 2) == [2, 1]


def test_a_rank_with_a_part_of_the_state_does_not_save_alone(tmp_path: Path) -> None:
    run(tmp_path, 1)
    assert saved(tmp_path, 2, is_replica=False) == [1]


@pytest.mark.parametrize("step", [1, 2])
def test_a_replica_saves_no_step_again_and_no_earlier_one(tmp_path: Path, step: int) -> None:
    run(tmp_path, 2)
    assert saved(tmp_path, step) == [2]


@pytest.mark.parametrize(("replaces_first", "steps"), [(True, [2, 1]), (False, [1])])
@pytest.mark.parametrize("holder", ["this rendezvous", "another run"])
def test_only_the_replica_that_replaces_rank_0_saves_without_its_lock(
    tmp_path: Path, replaces_first: bool, steps: list[int], holder: str
) -> None:
    run(tmp_path, 1)
    rank_zero = Lock(holder)
    rank_zero.acquire(tmp_path)
    launch = Launch(rank=1, size=2)
    world = SingleProcessWorld(
        launch=launch, backend="none", device=torch.device("cpu"), rendezvous_id="this rendezvous"
    )
    strategy = FakeStrategy()
    strategy.is_replica = True
    new_manager(tmp_path, strategy, world).save_alone(strategy.train_to(2), replaces_first=replaces_first)
    assert [number for number, _ in list_checkpoints(tmp_path)] == (steps if holder == "this rendezvous" else [1])


def test_a_replica_saves_alone_although_the_loss_has_interrupted_a_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, 1)
    world = SingleProcessWorld(launch=Launch(size=2), backend="none", device=torch.device("cpu"))
    strategy = FakeStrategy()
    strategy.is_replica = True
    manager = new_manager(tmp_path, strategy, world)
    manager.resume()

    def lose_peer(*_: object) -> None:
        raise RuntimeError("Connection closed by peer")

    with monkeypatch.context() as patch:
        patch.setattr("trainer.checkpoint.manager.publish", lose_peer)
        manager.save(strategy.train_to(2))
        with pytest.raises(RuntimeError, match="closed by peer"):
            manager.wait()
    manager.save_alone(strategy.train_to(3))
    assert [number for number, _ in list_checkpoints(tmp_path)] == [3, 1]


def test_a_run_of_one_rank_has_no_peers_to_lose(tmp_path: Path) -> None:
    run(tmp_path, 1)
    assert saved(tmp_path, 2, size=1) == [1]
