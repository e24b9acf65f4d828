"""What is known of the saves of this process, for whoever measures."""

from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class Figures:
    """Of one rank, since it began; every field may be read at any time, from any thread.

    `stall_seconds` is how long the training thread was kept from training, `save_seconds` how long saves took from
    their beginning until they were durable, or had failed. `newest_step` and `newest_time` (of the clock, as
    `time.time()` has it) are of the newest checkpoint that was saved or resumed from, the time being that of either.
    """

    saved: int = 0
    failed: int = 0
    stall_seconds: float = 0.0
    save_seconds: float = 0.0
    newest_step: int | None = None
    newest_time: float | None = None
