"""Configuration of a run: frozen dataclasses, and the flags and the file that fill them."""

from __future__ import annotations

from .checkpoints import CheckpointConfig
from .flags import parse_flags
from .model import ModelConfig
from .optimization import OptimizationConfig
from .parallel import ParallelConfig
from .schema import TrainerConfig

__all__ = [
    "CheckpointConfig",
    "ModelConfig",
    "OptimizationConfig",
    "ParallelConfig",
    "TrainerConfig",
    "parse_flags",
]
