"""How the work is spread over the ranks: one strategy per file."""

from trainer.config import TrainerConfig
from trainer.models.model import Model
from trainer.parallel.strategy import Share, Strategy
from trainer.runtime.distributed import World


def spread(model: Model, config: TrainerConfig, world: World) -> Strategy:
    """`model`, which is on the rank's device, under the strategy that `config` names. Collective."""
    match config.strategy:
        case "fsdp2":
            from trainer.parallel.fsdp2 import FSDP2

            return FSDP2(model, config, world)
        case "deepspeed":
            from trainer.parallel.deepspeed import DeepSpeed

            return DeepSpeed(model, config, world)
        case "tensor":
            from trainer.parallel.tensor import TensorParallel

            return TensorParallel(model, config, world)
        case _:
            from trainer.parallel.ddp import DDP

            return DDP(model, config, world)


__all__ = ["Share", "Strategy", "spread"]
