"""What a run is asked to do: a frozen dataclass and the flags that fill it."""

from trainer.config.flags import parse_flags
from trainer.config.schema import TrainerConfig

__all__ = ["TrainerConfig", "parse_flags"]
