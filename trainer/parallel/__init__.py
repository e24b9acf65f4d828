"""How the work is spread over the ranks: one strategy per file."""

from collections.abc import Callable

from trainer.config import TrainerConfig
from trainer.models.model import Model
from trainer.parallel.strategy import Share, Strategy, birthplace
from trainer.runtime.distributed import World


def spread(model: Model, config: TrainerConfig, world: World) -> Strategy:
    """`model` under the strategy that `config` names. Collective; of its weights those of rank 0 count."""
    return strategy_of(config)(model, config, world)


def strategy_of(config: TrainerConfig) -> Callable[[Model, TrainerConfig, World], Strategy]:
    """The strategy that `config` names; the others are not imported."""
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


__all__ = ["Share", "Strategy", "birthplace", "spread", "strategy_of"]
