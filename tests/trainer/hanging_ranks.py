"""Three ranks that hang: rank 1 sleeps, rank 2 is stopped, rank 0 waits for them.

`RANK=… python -m tests.trainer.hanging_ranks FOLDER`, without torchrun, which would wait for the stopped rank.
"""

from __future__ import annotations

import os
import signal
import sys
import time

import torch
import torch.distributed as dist

from trainer.runtime import timeouts
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.step_sync import StepReport, StepSync
from trainer.runtime.watchdog import Watchdog

# A busy machine takes seconds for a collective that has a timeout.
HANG_SECONDS = 6.0
TIMEOUT_SECONDS = 60.0
SHORT_SECONDS = 0.3


def seconds_until_timeout(group: dist.ProcessGroup | None) -> float:
    """Returns the seconds until rank 0 gives up on a collective that no other rank joins."""
    begun = time.monotonic()
    try:
        dist.all_reduce(torch.zeros(1), group=group)
    except RuntimeError:
        return time.monotonic() - begun
    return 0.0


def sleep() -> None:
    """Sleeps longer than the test runs."""
    time.sleep(60)


def run(world: World, dump_dir: str) -> None:
    """Takes three good steps and a fourth one that hangs."""
    step_sync, other = StepSync(world), world.cpu_group()
    with Watchdog(world, hang_seconds=HANG_SECONDS, timeout_seconds=TIMEOUT_SECONDS, dump_dir=dump_dir) as watchdog:
        for step in (1, 2, 3):
            step_sync.exchange(StepReport())
            watchdog.step_done(step)
        timeouts.set_collective_timeout(SHORT_SECONDS, [other])
        if world.rank == 0:
            print(*(seconds_until_timeout(group) for group in (None, other)), time.monotonic(), flush=True)
        elif world.rank == 1:
            sleep()
        else:
            os.kill(os.getpid(), signal.SIGSTOP)
        step_sync.exchange(StepReport())


if __name__ == "__main__":
    with process_group(Launch.from_environment(os.environ), TIMEOUT_SECONDS) as world:
        run(world, sys.argv[1])
