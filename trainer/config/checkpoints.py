"""The times and the folder of checkpoints, and which are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .option import option


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """A checkpoint is saved at the end of every epoch, on SIGTERM, and at the intervals of these fields."""

    checkpoint_dir: Path = option(
        Path("checkpoints"), "folder where checkpoints are published and resumed from; one run at a time"
    )
    checkpoint_steps: int = option(0, "save every N steps (0: disabled)", at_least=0)
    checkpoint_seconds: float = option(0.0, "save when the last save is N seconds old (0: disabled)", at_least=0)
    async_checkpoints: bool = option(True, "continue training while a checkpoint is written")
    # With one kept, the only checkpoint could be the one that a later, failing disk has just corrupted.
    keep_checkpoints: int = option(3, "number of newest checkpoints to keep", at_least=2)
    keep_every: int = option(0, "also keep each checkpoint whose step is a multiple of N (0: none)", at_least=0)
    start_afresh: bool = option(
        False, "set checkpoints of other programs aside too, and train from step 0 if no other is valid"
    )
