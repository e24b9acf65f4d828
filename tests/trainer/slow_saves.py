"""A script on a slow volume: `python -m tests.trainer.slow_saves SCRIPT …`. Each save takes longer than a step may."""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from typing import Any

# Of the wheel.
from trainyard_trainer import library
from trainyard_trainer.library import checkpoints, watchdog

HANG_SECONDS, SAVE_SECONDS = 4.0, 7.0


def slow(save: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a save that takes `SAVE_SECONDS` more."""

    def saved(*arguments: Any) -> Any:
        time.sleep(SAVE_SECONDS)
        return save(*arguments)

    return saved


class Watchdog(watchdog.Watchdog):
    """A watchdog with a short limit, whatever the script writes."""

    def __init__(self, **_: Any) -> None:
        super().__init__(hang_seconds=HANG_SECONDS)


if __name__ == "__main__":
    library.Watchdog = Watchdog  # type: ignore[misc]
    library.seal = slow(library.seal)
    checkpoints.publish = slow(checkpoints.publish)
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
