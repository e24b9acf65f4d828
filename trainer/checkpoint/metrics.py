"""Metrics of the saves of this process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class CheckpointMetrics:
    """Metrics of one rank since its start. Every field may be read at any time, from any thread.

    Attributes:
        saved: Saves that succeeded.
        failed: Saves that failed.
        stall_seconds: Time during which saves blocked the training thread.
        save_seconds: Time from the start of each save until it was durable or had failed.
        newest_step: Step of the newest checkpoint that was saved or resumed from.
        newest_time: When that happened, as `time.time()`.
    """

    saved: int = 0
    failed: int = 0
    stall_seconds: float = 0.0
    save_seconds: float = 0.0
    newest_step: int | None = None
    newest_time: float | None = None
