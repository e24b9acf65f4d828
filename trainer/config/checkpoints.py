"""When and where checkpoints are saved, and which are kept."""

from dataclasses import dataclass
from pathlib import Path

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """A checkpoint is saved at the end of every epoch, when told to stop, and as often as is said here."""

    checkpoint_dir: Path = option(
        Path("checkpoints"), "where checkpoints are published and resumed from; one run at a time"
    )
    checkpoint_steps: int = option(0, "save after every so many steps; 0 is not", at_least=0)
    checkpoint_seconds: float = option(0.0, "save when the newest save is so many seconds old; 0 is not", at_least=0)
    async_checkpoints: bool = option(True, "train on while a checkpoint is written")
    # With one kept, the only checkpoint could be the one that a later, failing disk has just corrupted.
    keep_checkpoints: int = option(3, "newest checkpoints to keep", at_least=2)
    keep_every: int = option(0, "keep each checkpoint whose step is a multiple of this, too; 0 is none", at_least=0)
