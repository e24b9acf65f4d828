"""The trainer with a fault: `FAULT=… python -m tests.trainer.fault_injection [flags of the trainer]`."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import runpy
import signal
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import torch
from torch import nn

from trainer.checkpoint import manifest
from trainer.checkpoint.manager import CheckpointManager
from trainer.data.batch import Batch, Indices
from trainer.data.digits import Digits
from trainer.parallel.loss_scale import LossScale
from trainer.parallel.native import NativeStrategy
from trainer.step import Stepper

# Larger than a log line, smaller than the weights.
ALMOST_FULL_BYTES = 1000
STOPPED_AT_STEP = 25
# What rank 0 syncs in the folder of a save.
FILES = 4
TRAINING_SAMPLES = 1438
RANK = os.environ.get("RANK", "0")


def before_fsync(pattern: str, strike: Callable[[], None], number: int = 1) -> None:
    """Calls `strike` before the `number`th matching file is synced: written, but not yet durable."""
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
    """Kills this process without a chance to react."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_all_in_save(pattern: str) -> None:
    """Kills rank 0 in a save, and the others when they learn of it, as a machine that fails does."""
    if RANK == "0":
        before_fsync(pattern, kill, random.SystemRandom().randint(1, FILES))
    else:
        CheckpointManager.save_alone = lambda *_, **__: kill()  # type: ignore[method-assign]


def kill_late() -> None:
    """Kills this process when the other ranks have received what it has sent."""
    time.sleep(1.0)
    kill()


def once(strike: Callable[[], None]) -> Callable[[], None]:
    """Returns a function that strikes only the first time, even across restarts of the process."""

    def strike_once() -> None:
        with contextlib.suppress(FileExistsError):
            (Path(os.environ["RECORD"]) / f"struck-{RANK}").touch(exist_ok=False)
            strike()

    return strike_once


def raise_error() -> None:
    """Raises an error, as a bug in the program does."""
    raise ZeroDivisionError("a mistake")


def lose_network() -> None:
    """Raises what a collective of NCCL raises on all ranks if the network between them fails."""
    raise torch.distributed.DistBackendError("NCCL error: remote process exited or there was a network error")


def hang() -> None:
    """Hangs, as a collective on a GPU does if its peer is gone."""
    time.sleep(600)


def wait_for_volume() -> None:
    """Waits until the test creates a file, as for a volume that hangs."""
    while not (Path(os.environ["RECORD"]) / "volume").exists():
        time.sleep(0.05)


def fill_disk() -> None:
    """Limits the file size: writes fail with EFBIG, as ENOSPC on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (ALMOST_FULL_BYTES, resource.RLIM_INFINITY))


def limit_files() -> None:
    """Sets the soft limit of open files to 100, below the number of files of a data set."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def terminate() -> None:
    """Sends SIGTERM to this process, as Kubernetes does."""
    os.kill(os.getpid(), signal.SIGTERM)
    # A separate thread records the signal.
    time.sleep(0.2)


def terminate_on_full_disk() -> None:
    """Sends SIGTERM to this process when its save will fail."""
    fill_disk()
    terminate()


def terminate_before_slow_save() -> None:
    """Sends SIGTERM to this process, whose save takes 3 s."""
    before_fsync(r"manifest\.json$", lambda: time.sleep(3.0))
    terminate()


def before_step(strike: Callable[[], None], step: int = STOPPED_AT_STEP) -> None:
    """Strikes before a step, by default in the middle of the run."""
    take = Stepper.train_step

    def strike_and_take(self: Stepper, number: int, *others: object) -> tuple[float, float]:
        if number == step:
            strike()
        return take(self, number, *others)  # type: ignore[arg-type]

    Stepper.train_step = strike_and_take  # type: ignore[method-assign, assignment]


def before_update(number: int, change: Callable[[nn.Parameter], None]) -> None:
    """Changes one parameter before the weights are updated in step `number`, the first time only."""
    update, steps = NativeStrategy.update, count(1)

    def change_and_update(self: NativeStrategy, learning_rate: float) -> float:
        if next(steps) == number:
            once(lambda: change(next(iter(self.model.parameters()))))()
        return update(self, learning_rate)

    NativeStrategy.update = change_and_update  # type: ignore[method-assign]


def while_weights_change(number: int, strike: Callable[[], None]) -> None:
    """Strikes within the update of the weights in step `number`, the first time only."""
    update, steps = LossScale.update, count(1)

    def strike_and_update(self: LossScale, norm: float) -> bool:
        if next(steps) == number:
            once(strike)()
        return update(self, norm)

    LossScale.update = strike_and_update  # type: ignore[method-assign]


def make_infinite(parameter: nn.Parameter) -> None:
    """Makes one number of the gradient infinite."""
    assert parameter.grad is not None
    parameter.grad.view(-1)[0] = float("inf")


def spoil(parameter: nn.Parameter) -> None:
    """Replaces the weights, as a defect of the memory or of the optimizer does."""
    parameter.data.fill_(float("nan"))


def spoil_before_slow_save() -> None:
    """Replaces the weights in step 24, whose save takes 6 s."""
    before_update(STOPPED_AT_STEP - 1, spoil)
    before_fsync(r"step-00000024.*/manifest\.json$", lambda: time.sleep(6.0))


def record_samples() -> None:
    """Records the training samples of this rank, one line per step."""
    take = Digits.take
    record = Path(os.environ["RECORD"]) / f"{os.getpid()}"

    def take_and_record(self: Digits, indices: Indices) -> Batch:
        if len(self) == TRAINING_SAMPLES:
            with record.open("a") as stream:
                stream.write(" ".join(map(str, indices)) + "\n")
        return take(self, indices)

    Digits.take = take_and_record  # type: ignore[method-assign]


def terminate_as_rank_starts() -> None:
    """Sends SIGTERM to the supervisor when it has forked the rank, whose signals it does not forward yet."""
    open_handle = os.pidfd_open

    def terminate_and_open(process: int) -> int:
        # No other Python thread runs until the supervisor waits for its rank.
        sys.setswitchinterval(10)
        os.kill(os.getpid(), signal.SIGTERM)
        delivered = time.monotonic() + 0.2
        while time.monotonic() < delivered:
            pass
        return open_handle(process)

    os.pidfd_open = terminate_and_open  # type: ignore[assignment]


# The rank of each fault (all ranks if empty), and the fault.
FAULTS: dict[str, tuple[str, Callable[[], None]]] = {
    "all-killed-in-second-save": ("", lambda: kill_all_in_save(r"step-00000040.*/")),
    "disk-full-from-second-save": ("", lambda: before_fsync(r"step-00000020.*/manifest\.json$", fill_disk)),
    "volume-hangs-in-first-save": ("0", lambda: before_fsync(r"step-00000020.*/manifest\.json$", wait_for_volume)),
    "killed-once-in-second-save": (
        "0",
        lambda: before_fsync(r"step-00000040.*/", once(kill), random.SystemRandom().randint(1, FILES)),
    ),
    "killed-once": ("1", lambda: before_step(once(kill))),
    "killed-beside-hanging-rank": ("", lambda: before_step(once(hang if RANK == "1" else kill))),
    "killed-beside-hanging-update": (
        "",
        lambda: while_weights_change(STOPPED_AT_STEP, hang if RANK == "1" else kill_late),
    ),
    "broken": ("1", lambda: before_step(raise_error)),
    "broken-once": ("1", lambda: before_step(once(raise_error))),
    "exits-once": ("1", lambda: before_step(once(lambda: os._exit(1)))),
    "network-fails-once": ("", lambda: before_step(once(lose_network))),
    "broken-at-first-step": ("1", lambda: before_step(raise_error, 1)),
    "terminated": ("1", lambda: before_step(terminate)),
    "terminated-before-slow-save": ("", lambda: before_step(terminate_before_slow_save)),
    "terminated-on-full-disk": ("", lambda: before_step(terminate_on_full_disk)),
    "terminated-as-rank-starts": ("", terminate_as_rank_starts),
    "infinite-gradient": ("", lambda: before_update(STOPPED_AT_STEP, make_infinite)),
    "spoiled-weights-on-slow-volume": ("", spoil_before_slow_save),
    "spoiled-weights": ("", lambda: before_update(STOPPED_AT_STEP - 1, spoil)),
    "recorded": ("", record_samples),
    "stalled-in-verification": ("1", lambda: setattr(manifest, "_check_all", lambda *_: hang())),
    "all-stalled-in-verification": ("", lambda: setattr(manifest, "_check_all", lambda *_: hang())),
    "few-open-files": ("", limit_files),
    "late": ("0", lambda: time.sleep(2.0)),
}

if __name__ == "__main__":
    rank, fault = FAULTS[os.environ["FAULT"]]
    if rank in ("", RANK):
        fault()
    runpy.run_module("trainer", run_name="__main__")
