"""The layout of the work over the GPUs."""

from __future__ import annotations

import math
from typing import NamedTuple

from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.shapes import Shape

STRATEGIES = ("ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp")
SHARDED = ("zero3", "fsdp", "hsdp")
RECOMPUTATION = ("none", "selective", "full")
# Bytes per parameter of weights, gradients and AdamW's state. `autocast`: all in fp32, as PyTorch's DDP and FSDP2 with
# the trainer. `mixed`: 16-bit weights and gradients beside an fp32 copy and moments (ZeRO, arXiv:1910.02054, section
# 3.1), as Megatron and DeepSpeed.
STATES = {"autocast": (4, 4, 8), "mixed": (2, 2, 12)}


def state_of(strategy: str) -> str:
    """Returns the precisions of the state that the usual program of a strategy keeps."""
    return "mixed" if strategy.startswith("zero") else "autocast"


class Layout(NamedTuple):
    """The ranks, what each of them computes in a step, and in which precision.

    `tensor` ranks share each matrix, `pipeline` ranks have some of the layers each, in `virtual` pieces. `shard` ranks
    hold one copy of the model with `hsdp`. A step has `accumulation` micro-batches of `micro_batch` sequences per rank.
    `fused` attention keeps no scores.
    """

    gpus: int
    gpus_per_node: int
    strategy: str
    sequence: int
    micro_batch: int
    accumulation: int
    tensor: int = 1
    pipeline: int = 1
    virtual: int = 1
    shard: int = 0
    offload: bool = False
    recompute: str = "none"
    fused: bool = True
    dtype: str = "bf16"
    state: str = "autocast"

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return math.ceil(self.gpus / self.gpus_per_node)

    @property
    def data(self) -> int:
        """The number of ranks that hold the same part of the model and train on different data."""
        return self.gpus // (self.tensor * self.pipeline)

    @property
    def sharding(self) -> int:
        """The number of ranks over which a sharded part of the state is spread."""
        return min(self.shard or self.gpus_per_node, self.data) if self.strategy == "hsdp" else self.data

    @property
    def global_batch(self) -> int:
        """The sequences of a step."""
        return self.micro_batch * self.accumulation * self.data

    @property
    def tokens_per_step(self) -> int:
        """The tokens of a step."""
        return self.global_batch * self.sequence

    @property
    def micro_tokens(self) -> int:
        """The tokens of a micro-batch on a rank."""
        return self.micro_batch * self.sequence

    @property
    def compute_bytes(self) -> int:
        """The bytes of a number in activations and in gathered weights."""
        return 4 if self.dtype in ("fp32", "tf32") else 2

    @property
    def gradient_bytes(self) -> int:
        """The bytes of a gradient on the network."""
        return STATES[self.state][1]


def check(layout: Layout, shape: Shape) -> None:
    """Raises `PlanError` for a layout that is impossible."""
    split = layout.tensor * layout.pipeline
    if layout.gpus % split:
        raise PlanError(
            f"{layout.gpus} GPUs cannot be divided by --tensor {layout.tensor} times --pipeline {layout.pipeline}"
        )
    if shape.heads % layout.tensor:
        raise PlanError(f"{shape.heads} attention heads of {shape.name} cannot be divided by --tensor {layout.tensor}")
    if layout.pipeline * layout.virtual > shape.layers:
        raise PlanError(
            f"{shape.name} has {shape.layers} layers, fewer than --pipeline {layout.pipeline} times "
            f"--virtual {layout.virtual}"
        )
    if layout.strategy == "hsdp" and layout.data % layout.sharding:
        raise PlanError(f"{layout.data} data-parallel ranks cannot be divided into shards of {layout.sharding}")
