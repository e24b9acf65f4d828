"""The trainer with a fault: `FAULT=… torchrun … -m tools.gpu.programs.faulty_trainer [flags]`.

`FAULT` is `raise` or `hang`: the rank `FAULT_RANK` raises an error or hangs before a step, once, as soon as the folder
`FAULT_CHECKPOINTS` holds a checkpoint. The file `FAULT_RECORD` marks that it has.
"""

from __future__ import annotations

import os
import runpy
import time
from collections.abc import Callable
from pathlib import Path

from trainer.step import Stepper

RANK = os.environ.get("RANK", "0")


def raise_error() -> None:
    """Raises an error, as a bug in the program does."""
    raise RuntimeError("an injected error")


def hang() -> None:
    """Hangs, as a read from a file server that is gone."""
    time.sleep(3600)


FAULTS: dict[str, Callable[[], None]] = {"raise": raise_error, "hang": hang}


def inject(strike: Callable[[], None], checkpoints: Path, record: Path) -> None:
    """Makes this process strike once there is a checkpoint, unless the record exists."""
    take = Stepper.train_step

    def strike_and_take(self: Stepper, number: int, *others: object) -> tuple[float, float]:
        if not record.exists() and any(checkpoints.glob("step-*/manifest.json")):
            record.touch()
            strike()
        return take(self, number, *others)  # type: ignore[arg-type]

    Stepper.train_step = strike_and_take  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    if (fault := os.environ.get("FAULT")) and os.environ["FAULT_RANK"] == RANK:
        inject(FAULTS[fault], Path(os.environ["FAULT_CHECKPOINTS"]), Path(os.environ["FAULT_RECORD"]))
    runpy.run_module("trainer", run_name="__main__")
