"""Parallelism strategies, one per file."""

from __future__ import annotations

from collections.abc import Callable

from trainer.config import TrainerConfig
from trainer.models.model import Model
from trainer.parallel.strategy import DataShard, Strategy, init_device
from trainer.runtime.distributed import World


def parallelize(model: Model, config: TrainerConfig, world: World) -> Strategy:
    """Parallelizes `model` with the strategy that `config` names. Collective; rank 0's weights are used."""
    return strategy_class(config)(model, config, world)


def strategy_class(config: TrainerConfig) -> Callable[[Model, TrainerConfig, World], Strategy]:
    """Returns the strategy that `config` names, without importing the others."""
    match config.strategy:
        case "fsdp2":
            from trainer.parallel.fsdp2 import FSDP2

            return FSDP2
        case "deepspeed":
            from trainer.parallel.deepspeed import DeepSpeed

            return DeepSpeed
        case "tensor":
            from trainer.parallel.tensor import TensorParallel

            return TensorParallel
        case _:
            from trainer.parallel.ddp import DDP

            return DDP


__all__ = ["DataShard", "Strategy", "init_device", "parallelize", "strategy_class"]
