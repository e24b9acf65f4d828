"""Three ranks that come to a standstill: rank 1 sleeps, rank 2 is stopped, rank 0 waits for them.

`RANK=… python -m tests.trainer.standstill FOLDER`, without torchrun, which would wait for the stopped one.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import torch
import torch.distributed as dist

from trainer.config import TrainerConfig
from trainer.runtime import timeouts
from trainer.runtime.boundary import Boundary, Report
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.watchdog import Watchdog

HANG_SECONDS = 2.0
SHORT_SECONDS = 0.3


def wait_in_vain(group: dist.ProcessGroup | None) -> float:
    """Seconds until rank 0 gives up on a collective that nobody else comes to."""
    begun = time.monotonic()
    try:
        dist.all_reduce(torch.zeros(1), group=group)
    except RuntimeError:
        return time.monotonic() - begun
    return 0.0


def sleep() -> None:
    """For ever, for a test."""
    time.sleep(60)


def run(world: World, config: TrainerConfig) -> None:
    """Three steps that are fine, and a fourth that is not."""
    boundary, other = Boundary(world), world.cpu_group()
    with Watchdog(config, world) as watchdog:
        for step in (1, 2, 3):
            boundary.exchange(Report())
            watchdog.alive(step)
        timeouts.shorten(SHORT_SECONDS, [other])
        if world.rank == 0:
            print(*(wait_in_vain(group) for group in (None, other)), time.monotonic(), flush=True)
        elif world.rank == 1:
            sleep()
        else:
            os.kill(os.getpid(), signal.SIGSTOP)
        boundary.exchange(Report())


if __name__ == "__main__":
    config = TrainerConfig(timeout_seconds=60, hang_seconds=HANG_SECONDS, dump_dir=sys.argv[1])
    with process_group(Launch.from_environment(os.environ), config.timeout_seconds) as world:
        run(world, config)
