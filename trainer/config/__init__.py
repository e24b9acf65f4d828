"""What a run is asked to do: frozen dataclasses, and the flags and the file that fill them."""

from __future__ import annotations

from trainer.config.checkpoints import CheckpointConfig
from trainer.config.flags import parse_flags
from trainer.config.model import ModelConfig
from trainer.config.optimization import OptimizationConfig
from trainer.config.parallel import ParallelConfig
from trainer.config.schema import TrainerConfig

__all__ = [
    "CheckpointConfig",
    "ModelConfig",
    "OptimizationConfig",
    "ParallelConfig",
    "TrainerConfig",
    "parse_flags",
]
