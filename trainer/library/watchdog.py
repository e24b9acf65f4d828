"""The watchdog of the trainer, for any script."""

from __future__ import annotations

from ..runtime import watchdog
from .group import joined_world


class Watchdog(watchdog.Watchdog):
    """Ends this process with status 134 and the stacks of all threads if a step takes too long. Collective.

    Use it as a context manager, and call `step_done(step)` after each step.

    Args:
        hang_seconds: The limit for a step; 0 disables the watchdog. Three times the slowest step so far, if that is
            more; the first step counts for the second alone.
        timeout_seconds: The limit for the first step, and within `extended_limit()`.
        dump_dir: Folder for the stacks and the NCCL flight record; none if empty.
    """

    def __init__(self, *, hang_seconds: float = 100.0, timeout_seconds: float = 600.0, dump_dir: str = "") -> None:
        super().__init__(joined_world(), hang_seconds=hang_seconds, timeout_seconds=timeout_seconds, dump_dir=dump_dir)
