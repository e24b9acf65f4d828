"""The trainer with a fault in rank 0: `FAULT=… python -m tests.trainer.faulty [flags of the trainer]`."""

from __future__ import annotations

import os
import re
import resource
import runpy
import signal
import time
from collections.abc import Callable
from pathlib import Path

# Larger than a line of log, smaller than the weights.
ALMOST_FULL_BYTES = 1000


def when_synced(pattern: str, strike: Callable[[], None]) -> None:
    """Strikes when a file whose path matches is about to be flushed to disk: written, but not there yet."""
    fsync = os.fsync

    def strike_and_fsync(descriptor: int) -> None:
        if re.search(pattern, str(Path(f"/proc/self/fd/{descriptor}").readlink())):
            strike()
        fsync(descriptor)

    os.fsync = strike_and_fsync  # type: ignore[assignment]


def kill() -> None:
    """What the kernel does to a container that outgrows its memory limit."""
    os.kill(os.getpid(), signal.SIGKILL)


def fill_disk() -> None:
    """No file may grow beyond a few bytes from now on: writing ends in EFBIG, as on a full disk in ENOSPC."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (ALMOST_FULL_BYTES, resource.RLIM_INFINITY))


FAULTS: dict[str, Callable[[], None]] = {
    "killed-in-second-save": lambda: when_synced(r"epoch-0002.*/optimizer\.pt$", kill),
    "disk-full-from-fourth-save": lambda: when_synced(r"epoch-0003.*/manifest\.json$", fill_disk),
    "late": lambda: time.sleep(2.0),
}

if __name__ == "__main__":
    if os.environ.get("RANK", "0") == "0":
        FAULTS[os.environ["FAULT"]]()
    runpy.run_module("trainer", run_name="__main__")
