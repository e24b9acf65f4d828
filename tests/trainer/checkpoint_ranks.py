"""`python -m tests.trainer.checkpoint_ranks DIR SCENARIO …`: one of several ranks that save and load together.

Started with torchrun's environment variables. Appends JSON lines to `DIR/records-<rank>`, for a test to compare.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

from tests.trainer.fake_strategy import FakeStrategy, new_manager
from tests.trainer.faulty_disk import FaultyDisk
from trainer.errors import CheckpointError
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch

# On two ranks, the second has a smaller shard of the first tensor, none of the next, and a full copy of the last.
SHAPES = ((3, 4), (1, 2), ())
# Tensors that every rank holds, as under DDP.
REPLICATED = ((40,), (40,), (30,), (30,), ())
TIMEOUT_SECONDS = 240
planned_by_pytorch = DefaultSavePlanner.create_global_plan


@dataclass(frozen=True)
class Rank:
    """One of the ranks, with its world and the scenario's folder."""

    world: World
    folder: Path

    @property
    def checkpoints(self) -> Path:
        """The checkpoint directory."""
        return self.folder / "checkpoints"

    def record(self, *values: object) -> None:
        """Appends a line."""
        with (self.folder / f"records-{self.world.rank}").open("a") as stream:
            stream.write(json.dumps(values) + "\n")

    def sharded(self) -> FakeStrategy:
        """Returns a strategy whose tensors, except the last, are sharded over the ranks."""
        strategy = FakeStrategy(SHAPES, self.world.rank, self.world.size)
        mesh = init_device_mesh("cpu", (self.world.size,))
        for name in list(strategy.tensors)[:-1]:
            strategy.tensors[name] = nn.Parameter(distribute_tensor(strategy.tensors[name].data, mesh, [Shard(0)]))
        return strategy


def resume_resharded(rank: Rank) -> None:
    """Go on from what another number of ranks saved, twice."""
    for _ in range(2):
        strategy = rank.sharded()
        manager = new_manager(rank.checkpoints, strategy, rank.world)
        train_state = manager.resume()
        assert train_state is not None
        rank.record(train_state.step, strategy.is_at(train_state.step))
        manager.save(strategy.train_to(train_state.step + 1))
        manager.wait_for_staging()
        strategy.train_to(0)
        manager.wait(required=True)
        manager.close()


def replicated(rank: Rank) -> None:
    """Saves what every rank holds: the same tensors twice, then one more."""
    strategy = FakeStrategy(REPLICATED, rank.world.rank, rank.world.size)
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    manager.resume()
    with patch.object(DefaultSavePlanner, "create_global_plan", autospec=True) as planned:
        planned.side_effect = planned_by_pytorch
        for step in (1, 2, 3):
            if step == 3:
                strategy.tensors["model.5"] = nn.Parameter(torch.zeros(100))
            manager.save(strategy.train_to(step))
            manager.wait_for_staging()
            strategy.train_to(0)
            manager.wait(required=True)
            staged = {name: copy.nbytes for name, copy in manager._stager.copies.items()}
            rank.record(staged, planned.call_count)
    manager.close()
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    manager.resume()
    rank.record(strategy.is_at(3))
    manager.close()


def disk_errors_on_last_rank(rank: Rank) -> None:
    """Makes each operation of the last rank's disk fail, a different one in each save."""
    disk_errors(rank, rank.world.size - 1)


def disk_errors_on_rank_zero(rank: Rank) -> None:
    """Does the same for rank 0, which has more operations."""
    disk_errors(rank, 0)


def disk_errors(rank: Rank, broken: int) -> None:
    """Makes each operation of the disk of rank `broken` fail, a different one in each save."""
    strategy = rank.sharded()
    manager = new_manager(rank.checkpoints, strategy, rank.world, keep_checkpoints=2)
    manager.resume()
    with pytest.MonkeyPatch.context() as patches:
        disk = FaultyDisk(patches)
        manager.save(strategy.train_to(1))
        manager.wait(required=True)
        operations, step = rank.world.gather(disk.count)[broken], 1
        for number in range(1, operations + 1):
            if rank.world.rank == broken:
                disk.fail(number, errno.ENOSPC, lasting=False)
            step += 1
            manager.save(strategy.train_to(step))
            manager.wait_for_staging()
            manager.wait()
            disk.repair()
    rank.record(manager.metrics.saved, manager.metrics.failed, operations)
    try:
        manager.wait(required=True)
    except CheckpointError as error:
        rank.record(str(error))
    manager.save(strategy.train_to(step + 1))
    manager.wait(required=True)
    rank.record(manager.metrics.newest_step == step + 1)
    manager.close()


def separate_directories(rank: Rank) -> None:
    """Gives each rank a directory of its own."""
    manager = new_manager(rank.folder / f"checkpoints-{rank.world.rank}", rank.sharded(), rank.world)
    try:
        manager.resume()
    except CheckpointError as error:
        rank.record(str(error))
    manager.close()


def directory_lost(rank: Rank) -> None:
    """Takes the directory away from the last rank during the run."""
    strategy = rank.sharded()
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    manager.resume()
    if rank.world.rank == rank.world.size - 1:
        elsewhere = rank.folder / "elsewhere"
        elsewhere.mkdir()
        object.__setattr__(manager._config, "checkpoint_dir", elsewhere)
    rank.world.gather(None)
    manager.save(strategy.train_to(1))
    manager.wait()
    rank.world.gather(None)
    rank.record(manager.metrics.saved, manager.metrics.failed, sorted(path.name for path in rank.checkpoints.iterdir()))
    manager.close()


def read_error_on_last_rank(rank: Rank) -> None:
    """Makes the last rank fail to read its part of a checkpoint."""
    strategy = rank.sharded()
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    manager.resume()
    manager.save(strategy.train_to(1))
    manager.wait(required=True)
    manager.close()
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    with pytest.MonkeyPatch.context() as patches:
        if rank.world.rank == rank.world.size - 1:
            patches.setattr(DefaultLoadPlanner, "commit_tensor", refuse_to_read)
        try:
            manager.resume()
        except CheckpointError as error:
            rank.record(str(error))
    manager.close()


def refuse_to_read(*_: object) -> None:
    """Fails as a read from a broken disk."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def killed(rank: Rank) -> None:
    """Kills the last rank while it writes its part of the second checkpoint."""
    strategy = rank.sharded()
    manager = new_manager(rank.checkpoints, strategy, rank.world)
    manager.resume()
    manager.save(strategy.train_to(1))
    manager.wait(required=True)
    rank.record("saved", 1)
    with pytest.MonkeyPatch.context() as patches:
        disk = FaultyDisk(patches)
        if rank.world.rank == rank.world.size - 1:
            disk.before = lambda operation: kill() if operation == "write" else None
        manager.save(strategy.train_to(2))
        try:
            manager.wait()
        except RuntimeError:
            rank.record("lost a peer")
            raise


def kill() -> None:
    """Kills this process without a chance to react."""
    os.kill(os.getpid(), signal.SIGKILL)


SCENARIOS: dict[str, Callable[[Rank], None]] = {
    scenario.__name__: scenario
    for scenario in (
        resume_resharded,
        replicated,
        disk_errors_on_last_rank,
        disk_errors_on_rank_zero,
        separate_directories,
        directory_lost,
        read_error_on_last_rank,
        killed,
    )
}


def main(directory: Path, *scenarios: str) -> None:
    """Runs the scenarios, each in a folder of its name."""
    torch.set_num_threads(1)
    with process_group(Launch.from_environment(os.environ), TIMEOUT_SECONDS) as world:
        for scenario in scenarios:
            (directory / scenario).mkdir(exist_ok=True)
            SCENARIOS[scenario](Rank(world, directory / scenario))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), *sys.argv[2:])
    except RuntimeError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)
