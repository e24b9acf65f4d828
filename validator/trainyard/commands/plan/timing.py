"""The time of a step: computation, and what of the communication it cannot hide."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.plan.fabrics import Fabric
from trainyard.commands.plan.hardware import Gpu
from trainyard.commands.plan.layout import SHARDED, Layout
from trainyard.commands.plan.memory import activation_numbers, score_numbers, stage_parameters
from trainyard.commands.plan.shapes import Shape
from trainyard.commands.plan.traffic import Link, traffic

# The matrices of a model reach less of the peak than the best one.
MATRICES = 0.84
# FlashAttention reaches about half of the peak and skips what the causal mask hides (arXiv:2307.08691, figure 4):
# counted without the mask, it runs at the peak.
ATTENTION = 1.0
# Reads and writes of each kept activation, forward and backward, by norms, activations, residuals and copies.
PASSES = 12
# Collectives take processors and memory bandwidth from the computation that hides them.
EXPOSED = 0.5
# AdamW reads and writes weights, moments and gradients: bytes per parameter.
_OPTIMIZER = 30
# NVLink under NCCL: the bus bandwidth of 8 H100 is 360 to 380 of 450 GB/s.
_LINK = 0.8
# PCI Express to host memory, for an offloaded optimizer: 4.0 x16 as measured.
_HOST = 25e9


class Timing(NamedTuple):
    """Seconds of a step. `exposed` is the part of `data` that the computation does not hide."""

    matrices: float
    attention: float
    activations: float
    tensor: float
    bubble: float
    optimizer: float
    data: float
    exposed: float
    pipeline: float

    @property
    def compute(self) -> float:
        """The seconds of computation."""
        return self.matrices + self.attention + self.activations + self.optimizer

    @property
    def step(self) -> float:
        """The seconds of the step."""
        return self.compute + self.tensor + self.bubble + self.exposed + self.pipeline

    @property
    def bound(self) -> str:
        """The bound of the step: `compute`, `network` or `pipeline bubble`."""
        network = self.tensor + self.exposed + self.pipeline
        parts = {"compute": self.compute, "network": network, "pipeline bubble": self.bubble}
        return max(parts, key=lambda name: parts[name])


def timing(shape: Shape, layout: Layout, gpu: Gpu, fabric: Fabric) -> Timing:
    """Returns the estimated time of a step."""
    sent, split = traffic(shape, layout), layout.tensor * layout.pipeline
    tokens = layout.micro_tokens * layout.accumulation
    forward_again = 1 + (1 / 3 if layout.recompute == "full" else 0)
    attention_again = 1 + (0 if layout.recompute == "none" else 1 / 3)
    matrices = tokens * forward_again * _matrix_seconds(shape, layout, gpu) / split
    dtype = "bf16" if layout.dtype == "fp8" else layout.dtype
    rate = (ATTENTION if layout.fused else gpu.matmul * MATRICES) * gpu.peak(dtype)
    attention = tokens * attention_again * shape.attention_flops(layout.sequence) / split / rate
    numbers = activation_numbers(shape) * (1 + (0.4 if layout.recompute == "full" else 0))
    if not layout.fused:
        numbers += score_numbers(shape, layout.sequence) * (1 + (0.4 if layout.recompute != "none" else 0))
    activations = tokens * PASSES * numbers * shape.layers * layout.compute_bytes / split / gpu.memory_rate
    tensor = _seconds(sent.tensor, gpu, fabric)
    stages = (layout.pipeline - 1) / (layout.virtual * layout.accumulation)
    data = _seconds(sent.data, gpu, fabric)
    busy = matrices + attention + activations
    return Timing(
        matrices=matrices,
        attention=attention,
        activations=activations,
        tensor=tensor,
        bubble=(busy + tensor) * stages,
        optimizer=_optimizer_seconds(shape, layout, gpu),
        data=data,
        exposed=_exposed(data, busy, layout),
        pipeline=EXPOSED * _seconds(sent.pipeline, gpu, fabric),
    )


def _matrix_seconds(shape: Shape, layout: Layout, gpu: Gpu) -> float:
    """Returns the seconds per token in matrices, on one GPU."""
    best = gpu.matmul * MATRICES
    if layout.dtype != "fp8":
        return (shape.matrix_flops() + shape.head_flops()) / (best * gpu.peak(layout.dtype))
    # Only matrices of layers are in FP8. The time of conversions and scales is not counted.
    layers = shape.matrix_flops() / (best * gpu.peak("fp8"))
    return layers + shape.head_flops() / (best * gpu.peak("bf16"))


def _optimizer_seconds(shape: Shape, layout: Layout, gpu: Gpu) -> float:
    parameters = stage_parameters(shape, layout)
    over = 1 if layout.strategy == "ddp" else layout.sharding
    if layout.offload:
        # Gradients go to the host, and weights come back.
        return parameters / over * (layout.gradient_bytes + layout.compute_bytes) / _HOST
    return parameters / over * _OPTIMIZER / gpu.memory_rate


def _seconds(link: Link, gpu: Gpu, fabric: Fabric) -> float:
    """Returns the seconds that bytes take: the levels of a collective work at the same time."""
    return max(link.node / (gpu.link * _LINK), link.fabric / (fabric.rate * fabric.efficiency))


def _exposed(data: float, busy: float, layout: Layout) -> float:
    """Returns the seconds of collectives for gradients and weights that the computation does not hide.

    DDP and the first stages of ZeRO reduce gradients during the last backward pass; sharded weights are gathered all
    the time.
    """
    hides = busy if layout.strategy in SHARDED else busy * 2 / 3 / layout.accumulation
    return max(0.0, data - hides) + EXPOSED * min(data, hides)
