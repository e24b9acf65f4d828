"""A script on a slow volume: `python -m tests.trainer.slow_saves SCRIPT …`. Each save takes longer than a step may."""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

HANG_SECONDS, SAVE_SECONDS = 4.0, 7.0


def slow(save: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a save that takes `SAVE_SECONDS` more."""

    def saved(*arguments: Any) -> Any:
        time.sleep(SAVE_SECONDS)
        return save(*arguments)

    return saved


if __name__ == "__main__":
    # That of the wheel.
    library: Any = import_module("trainyard_trainer.library")
    watchdog = library.Watchdog
    library.Watchdog = lambda **_: watchdog(hang_seconds=HANG_SECONDS)
    library.seal = slow(library.seal)
    library.checkpoints.publish = slow(library.checkpoints.publish)
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
