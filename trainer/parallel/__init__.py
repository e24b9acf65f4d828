"""Parallelism strategies, one per file."""

from __future__ import annotations

from collections.abc import Callable

from ..config import TrainerConfig
from ..models.model import Model
from ..runtime.distributed import World
from .precision import resolve_precision, set_matmul_precision
from .strategy import DataShard, Strategy, init_device


def parallelize(model: Model, config: TrainerConfig, world: World) -> Strategy:
    """Parallelizes `model` with the strategy that `config` names. Collective; rank 0's weights are used."""
    set_matmul_precision(config)
    return strategy_class(config)(model, resolve_precision(config, world.device), world)


def strategy_class(config: TrainerConfig) -> Callable[[Model, TrainerConfig, World], Strategy]:
    """Returns the strategy that `config` names, without importing the others."""
    match config.strategy:
        case "fsdp2":
            from .fsdp2 import FSDP2

            return FSDP2
        case "deepspeed":
            from .deepspeed import DeepSpeed

            return DeepSpeed
        case "tensor":
            from .tensor import TensorParallel

            return TensorParallel
        case _:
            from .ddp import DDP

            return DDP


__all__ = [
    "DataShard",
    "Strategy",
    "init_device",
    "parallelize",
    "resolve_precision",
    "strategy_class",
]
