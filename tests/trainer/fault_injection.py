"""The trainer with a fault: `FAULT=… python -m tests.trainer.faulty [flags of the trainer]`."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import runpy
import signal
import time
from collections.abc import Callable
from pathlib import Path

from trainer.data.batch import Batch, Indices
from trainer.data.digits import Digits
from trainer.step import Stepper

# Larger than a line of log, smaller than the weights.
ALMOST_FULL_BYTES = 1000
STOPPED_AT_STEP = 25
TRAINING_SAMPLES = 1438
RANK = os.environ.get("RANK", "0")


def when_synced(pattern: str, strike: Callable[[], None], number: int = 1) -> None:
    """Strikes when the `number`th file that matches is about to be flushed to disk: written, but not there yet."""
    fsync = os.fsync
    left = number

    def strike_and_fsync(descriptor: int) -> None:
        nonlocal left
        if re.search(pattern, str(Path(f"/proc/self/fd/{descriptor}").readlink())):
            left -= 1
            if left == 0:
                strike()
        fsync(descriptor)

    os.fsync = strike_and_fsync  # type: ignore[assignment]


def kill() -> None:
    """What the kernel does to a container that outgrows its memory limit."""
    os.kill(os.getpid(), signal.SIGKILL)


def once(strike: Callable[[], None]) -> Callable[[], None]:
    """Does it the first time alone, also when the process has been started anew since then."""

    def strike_once() -> None:
        with contextlib.suppress(FileExistsError):
            (Path(os.environ["RECORD"]) / f"struck-{RANK}").touch(exist_ok=False)
            strike()

    return strike_once


def break_down() -> None:
    """What a mistake in the program does."""
    raise ZeroDivisionError("a mistake")


def stand_still() -> None:
    """What a collective on a GPU does whose peer has gone."""
    time.sleep(600)


def fill_disk() -> None:
    """No file may grow beyond a few bytes from now on: writing ends in EFBIG, as on a full disk in ENOSPC."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (ALMOST_FULL_BYTES, resource.RLIM_INFINITY))


def terminate() -> None:
    """As Kubernetes does."""
    os.kill(os.getpid(), signal.SIGTERM)
    # The signal is noted in a thread of its own.
    time.sleep(0.2)


def in_a_step(strike: Callable[[], None]) -> None:
    """Strikes in the middle of the run, before a step."""
    take = Stepper.take

    def strike_and_take(self: Stepper, number: int, *others: object) -> tuple[float, float]:
        if number == STOPPED_AT_STEP:
            strike()
        return take(self, number, *others)  # type: ignore[arg-type]

    Stepper.take = strike_and_take  # type: ignore[method-assign, assignment]


def record_samples() -> None:
    """Writes down which samples this rank is trained on, one line for each step."""
    take = Digits.take
    record = Path(os.environ["RECORD"]) / f"{os.getpid()}"

    def take_and_record(self: Digits, indices: Indices) -> Batch:
        if len(self) == TRAINING_SAMPLES:
            with record.open("a") as stream:
                stream.write(" ".join(map(str, indices)) + "\n")
        return take(self, indices)

    Digits.take = take_and_record  # type: ignore[method-assign]


# What happens, and to which rank; to all of them without a number.
FAULTS: dict[str, tuple[str, Callable[[], None]]] = {
    "killed-in-second-save": ("0", lambda: when_synced(r"step-00000040.*/", kill, random.SystemRandom().randint(1, 5))),
    "disk-full-from-second-save": ("", lambda: when_synced(r"step-00000020.*/manifest\.json$", fill_disk)),
    "killed-once-in-second-save": (
        "0",
        lambda: when_synced(r"step-00000040.*/", once(kill), random.SystemRandom().randint(1, 5)),
    ),
    "killed-beside-one-that-stands-still": ("", lambda: in_a_step(once(stand_still if RANK == "1" else kill))),
    "broken": ("1", lambda: in_a_step(break_down)),
    "terminated": ("1", lambda: in_a_step(terminate)),
    "recorded": ("", record_samples),
    "late": ("0", lambda: time.sleep(2.0)),
}

if __name__ == "__main__":
    rank, fault = FAULTS[os.environ["FAULT"]]
    if rank in ("", RANK):
        fault()
    runpy.run_module("trainer", run_name="__main__")
