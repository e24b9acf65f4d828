"""`python -m tests.trainer.ranks DIR SCENARIO …`: a rank that saves and loads with others, and what it says of it.

As torchrun starts it. Appends lines of JSON to `DIR/said-<rank>`, for a test to compare.
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

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

from trainer.errors import CheckpointError
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch

from .disk import Disk
from .toy import Toy, manager_of

# With two ranks, the second has less than the first of one tensor, nothing of the next, and all of the last.
SHAPES = ((3, 4), (1, 2), ())
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Rank:
    """One of the ranks, its world and the scenario's own folder."""

    world: World
    folder: Path

    @property
    def checkpoints(self) -> Path:
        """The checkpoint directory."""
        return self.folder / "checkpoints"

    def say(self, *values: object) -> None:
        """Appends a line."""
        with (self.folder / f"said-{self.world.rank}").open("a") as stream:
            stream.write(json.dumps(values) + "\n")

    def sharded(self) -> Toy:
        """A toy whose tensors are spread over the ranks, but for the last."""
        toy = Toy(SHAPES, self.world.rank, self.world.size)
        mesh = init_device_mesh("cpu", (self.world.size,))
        for name in list(toy.tensors)[:-1]:
            toy.tensors[name] = nn.Parameter(distribute_tensor(toy.tensors[name].data, mesh, [Shard(0)]))
        return toy


def spread(rank: Rank) -> None:
    """Go on from what another number of ranks saved, twice."""
    for _ in range(2):
        toy = rank.sharded()
        manager = manager_of(rank.checkpoints, toy, rank.world)
        progress = manager.resume()
        assert progress is not None
        rank.say(progress.step, toy.is_at(progress.step), torch.rand(2).tolist())
        manager.save(toy.train_to(progress.step + 1))
        manager.before_update()
        toy.train_to(0)
        manager.wait(required=True)
        manager.close()


def refused_to_last(rank: Rank) -> None:
    """The disk of the last rank refuses one operation after the other, in each save another one."""
    refused(rank, rank.world.size - 1)


def refused_to_first(rank: Rank) -> None:
    """The same of rank 0, which does more."""
    refused(rank, 0)


def refused(rank: Rank, broken: int) -> None:
    """The disk of the rank `broken` refuses one operation after the other."""
    toy = rank.sharded()
    manager = manager_of(rank.checkpoints, toy, rank.world, keep_checkpoints=2)
    manager.resume()
    with pytest.MonkeyPatch.context() as patches:
        disk = Disk(patches)
        manager.save(toy.train_to(1))
        manager.wait(required=True)
        operations, step = rank.world.gather(disk.count)[broken], 1
        for number in range(1, operations + 1):
            if rank.world.rank == broken:
                disk.fail(number, errno.ENOSPC, lasting=False)
            step += 1
            manager.save(toy.train_to(step))
            manager.before_update()
            manager.wait()
            disk.repair()
    rank.say(manager.figures.saved, manager.figures.failed, operations)
    try:
        manager.wait(required=True)
    except CheckpointError as error:
        rank.say(str(error))
    manager.save(toy.train_to(step + 1))
    manager.wait(required=True)
    rank.say(manager.figures.newest_step == step + 1)
    manager.close()


def apart(rank: Rank) -> None:
    """Each rank has a directory of its own."""
    manager = manager_of(rank.folder / f"checkpoints-{rank.world.rank}", rank.sharded(), rank.world)
    try:
        manager.resume()
    except CheckpointError as error:
        rank.say(str(error))
    manager.close()


def moved_apart(rank: Rank) -> None:
    """The directory vanishes for the last rank while the run is under way."""
    toy = rank.sharded()
    manager = manager_of(rank.checkpoints, toy, rank.world)
    manager.resume()
    if rank.world.rank == rank.world.size - 1:
        elsewhere = rank.folder / "elsewhere"
        elsewhere.mkdir()
        object.__setattr__(manager._config, "checkpoint_dir", elsewhere)
    rank.world.gather(None)
    manager.save(toy.train_to(1))
    manager.wait()
    rank.world.gather(None)
    rank.say(manager.figures.saved, manager.figures.failed, sorted(path.name for path in rank.checkpoints.iterdir()))
    manager.close()


def killed(rank: Rank) -> None:
    """The last rank is killed while it writes its part of the second checkpoint."""
    toy = rank.sharded()
    manager = manager_of(rank.checkpoints, toy, rank.world)
    manager.resume()
    manager.save(toy.train_to(1))
    manager.wait(required=True)
    rank.say("saved", 1)
    with pytest.MonkeyPatch.context() as patches:
        disk = Disk(patches)
        if rank.world.rank == rank.world.size - 1:
            disk.before = lambda operation: kill() if operation == "write" else None
        manager.save(toy.train_to(2))
        try:
            manager.wait()
        except RuntimeError:
            rank.say("lost a peer")
            raise


def kill() -> None:
    """What the kernel does to a container that outgrows its memory limit."""
    os.kill(os.getpid(), signal.SIGKILL)


SCENARIOS: dict[str, Callable[[Rank], None]] = {
    scenario.__name__: scenario for scenario in (spread, refused_to_last, refused_to_first, apart, moved_apart, killed)
}


def main(directory: Path, *scenarios: str) -> None:
    """Plays the scenarios, each in a folder of its name."""
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
