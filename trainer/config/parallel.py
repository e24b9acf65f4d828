"""The layout of the work over the ranks."""

from __future__ import annotations

from dataclasses import dataclass

from .option import option


@dataclass(frozen=True, kw_only=True)
class ParallelConfig:
    """One strategy, and what it needs to know."""

    strategy: str = option(
        "ddp",
        "ddp (model replicated), fsdp2 (model sharded), deepspeed (ZeRO) or tensor (each matrix sharded)",
        choices=("ddp", "fsdp2", "deepspeed", "tensor"),
    )
    shard_size: int = option(
        0, "ranks per copy of the model (fsdp2); fewer than all ranks is HSDP (0: all ranks)", at_least=0
    )
    tensor_size: int = option(2, "ranks that share each matrix (tensor parallelism)", at_least=1)
    zero_stage: int = option(
        1,
        "ZeRO stage of DeepSpeed: 1 shards the optimizer state, 2 also gradients, 3 also parameters",
        at_least=1,
        at_most=3,
    )
    offload: str = option(
        "none",
        "offload of the optimizer state by DeepSpeed: none (stays with the model) or cpu",
        choices=("none", "cpu"),
    )
