"""How the work is spread over the ranks."""

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class ParallelConfig:
    """One strategy, and what it needs to know."""

    strategy: str = option(
        "ddp",
        "ddp (each rank has the model), fsdp2 (ranks share it), deepspeed (ZeRO) or tensor (they share each matrix)",
        choices=("ddp", "fsdp2", "deepspeed", "tensor"),
    )
    shard_size: int = option(
        0, "ranks that share one copy of the model (fsdp2): fewer than all of them is HSDP; 0 is all", at_least=0
    )
    tensor_size: int = option(2, "ranks that share each matrix (tensor)", at_least=1)
    zero_stage: int = option(
        1, "what DeepSpeed's ranks share: 1 optimizer, 2 gradients too, 3 parameters too", at_least=1, at_most=3
    )
    offload: str = option(
        "none", "where DeepSpeed keeps the optimizer: none (with the model) or cpu", choices=("none", "cpu")
    )
