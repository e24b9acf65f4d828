"""Bytes that a step sends over the links of a node and between nodes."""

from __future__ import annotations

import math
from typing import NamedTuple

from trainyard.commands.plan.layout import Layout
from trainyard.commands.plan.memory import stage_parameters
from trainyard.commands.plan.shapes import Shape


def all_reduce_bytes(size: float, ranks: int) -> float:
    """Returns what each rank sends in a ring all-reduce.

    Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009; NVIDIA/nccl-tests doc/PERFORMANCE.md.
    """
    return 2 * gather_bytes(size, ranks)


def gather_bytes(size: float, ranks: int) -> float:
    """Returns what each rank sends in a ring all-gather or reduce-scatter of this size in all."""
    return size * (ranks - 1) / ranks


class Link(NamedTuple):
    """Bytes of a step: `node` leaves each GPU over the link within its node, `fabric` leaves each node."""

    node: float = 0.0
    fabric: float = 0.0


class Traffic(NamedTuple):
    """Bytes of a step by purpose: gradients and weights (`data`), matrices (`tensor`), stages (`pipeline`)."""

    data: Link
    tensor: Link
    pipeline: Link

    @property
    def node(self) -> float:
        """Bytes that leave each GPU within its node."""
        return self.data.node + self.tensor.node + self.pipeline.node

    @property
    def fabric(self) -> float:
        """Bytes that leave each node."""
        return self.data.fabric + self.tensor.fabric + self.pipeline.fabric


def traffic(shape: Shape, layout: Layout) -> Traffic:
    """Returns the bytes of a step."""
    return Traffic(_data(shape, layout), _tensor(shape, layout), _pipeline(shape, layout))


def _data(shape: Shape, layout: Layout) -> Link:
    """Returns the bytes for gradients and weights, by strategy."""
    parameters = stage_parameters(shape, layout)
    gradients, weights = parameters * layout.gradient_bytes, parameters * layout.compute_bytes
    repeats = layout.accumulation
    if layout.strategy == "ddp":
        return _spread(2 * gradients, layout, layout.data)
    if layout.strategy == "zero1":
        return _spread(gradients + weights, layout, layout.data)
    if layout.strategy == "zero2":
        return _spread(repeats * gradients + weights, layout, layout.data)
    # Weights are gathered for the forward and again for the backward pass, in each micro-batch.
    within = _spread(repeats * (2 * weights + gradients), layout, layout.sharding)
    if layout.strategy != "hsdp" or layout.data == layout.sharding:
        return within
    copies, shard = layout.data // layout.sharding, 2 * gradients / layout.sharding
    per_node = min(layout.gpus_per_node, layout.gpus)
    return Link(within.node, within.fabric + per_node * gather_bytes(shard, copies))


def _spread(size: float, layout: Layout, ranks: int) -> Link:
    """Returns the bytes of collectives of this size among neighbouring `ranks` that hold the same matrices."""
    groups = min(layout.tensor, layout.gpus_per_node)
    members = max(1, min(ranks, layout.gpus_per_node // groups))
    nodes = math.ceil(ranks / members)
    return Link(gather_bytes(size, members), groups * gather_bytes(size, nodes))


def _tensor(shape: Shape, layout: Layout) -> Link:
    """Returns the bytes for tensor parallelism: four all-reduces per layer, two more if the forward pass is repeated.

    Source: section 3 of arXiv:1909.08053. With sequence parallelism, each is a reduce-scatter and an all-gather.
    """
    times = 6 if layout.recompute == "full" else 4
    size = layout.micro_tokens * shape.hidden * layout.compute_bytes
    layers = math.ceil(shape.layers / layout.pipeline)
    sent = layout.accumulation * layers * times * all_reduce_bytes(size, layout.tensor)
    if layout.tensor <= layout.gpus_per_node:
        return Link(node=sent)
    return Link(fabric=sent * layout.gpus_per_node)


def _pipeline(shape: Shape, layout: Layout) -> Link:
    """Returns the bytes between stages: the activations of each micro-batch, and their gradients."""
    if layout.pipeline == 1:
        return Link()
    size = layout.micro_tokens * shape.hidden * layout.compute_bytes / layout.tensor
    sent = 2 * layout.accumulation * layout.virtual * size
    if layout.gpus <= layout.gpus_per_node:
        return Link(node=sent)
    return Link(fabric=sent * layout.gpus_per_node)
