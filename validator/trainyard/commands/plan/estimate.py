"""The plan of a run: all estimates together, as a range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.commands.plan.fabrics import Fabric
from trainyard.commands.plan.failures import Failures, checkpoint_bytes, failures
from trainyard.commands.plan.hardware import Gpu
from trainyard.commands.plan.layout import STRATEGIES, Layout, check, state_of
from trainyard.commands.plan.memory import Memory, memory
from trainyard.commands.plan.shapes import Shape
from trainyard.commands.plan.timing import Timing, timing
from trainyard.commands.plan.traffic import Traffic, traffic

# Measured step times of four in five published runs are within these factors of the estimate; docs/plan.md lists them.
BEST, WORST = 0.85, 1.4
# NVIDIA DGX SuperPOD with H100, reference architecture: four systems in a rack.
NODES_PER_RACK = 4
DAY = 86400


class Conditions(NamedTuple):
    """The conditions of a run: the tokens that it trains on, prices and failures. Rates are in bytes per second."""

    tokens: float
    price: float | None
    gpu_mtbf_hours: float
    storage: float
    restart: float


class Range(NamedTuple):
    """The best, the expected and the worst value."""

    best: float
    expected: float
    worst: float

    def scaled(self, factor: float) -> Range:
        """Returns the range times a factor."""
        return Range(*(value * factor for value in self))


class Plan(NamedTuple):
    """All estimates of a run. `days` include failures; `cost` is None without a price."""

    shape: Shape
    layout: Layout
    gpu: Gpu
    fabric: Fabric
    memory: Memory
    traffic: Traffic
    timing: Timing
    failures: Failures
    conditions: Conditions
    step: Range
    days: Range
    scaling: float

    @property
    def fits(self) -> bool:
        """True if a rank's memory is within that of the GPU."""
        return self.memory.total <= self.gpu.memory

    @property
    def tokens_per_second(self) -> float:
        """The expected speed of the whole run."""
        return self.layout.tokens_per_step / self.step.expected

    @property
    def mfu(self) -> float:
        """The model FLOPs utilization."""
        rate = self.tokens_per_second * self.shape.flops(self.layout.sequence) / self.layout.gpus
        return rate / self.gpu.peak(self.layout.dtype)

    @property
    def cost(self) -> Range | None:
        """The price of the run."""
        price = self.conditions.price
        return None if price is None else self.days.scaled(24 * self.layout.gpus * price)


def plan(shape: Shape, layout: Layout, gpu: Gpu, fabric: Fabric, conditions: Conditions) -> Plan:
    """Returns the plan of a run. Raises `PlanError` for an impossible layout."""
    check(layout, shape)
    took = timing(shape, layout, gpu, fabric)
    step = Range(took.step * BEST, took.step, took.step * WORST)
    lost = failures(
        checkpoint_bytes(shape, layout),
        layout.gpus,
        conditions.storage,
        conditions.restart,
        conditions.gpu_mtbf_hours,
    )
    kept = max(1 - lost.lost, 1e-3)
    return Plan(
        shape=shape,
        layout=layout,
        gpu=gpu,
        fabric=fabric,
        memory=memory(shape, layout),
        traffic=traffic(shape, layout),
        timing=took,
        failures=lost,
        conditions=conditions,
        step=step,
        days=step.scaled(conditions.tokens / layout.tokens_per_step / DAY / kept),
        scaling=_scaling(shape, layout, gpu, fabric, took.step),
    )


def _scaling(shape: Shape, layout: Layout, gpu: Gpu, fabric: Fabric, step: float) -> float:
    """Returns the speed of a GPU over its speed in the smallest run: one node, or the nodes of one copy of the model.

    Each GPU has the same batch in both.
    """
    fewest = layout.tensor * layout.pipeline
    smallest = math.ceil(layout.gpus_per_node / fewest) * fewest if fewest < layout.gpus_per_node else fewest
    if smallest >= layout.gpus:
        return 1.0
    return timing(shape, layout._replace(gpus=smallest), gpu, fabric).step / step


def alternatives(known: Plan) -> Iterator[Plan]:
    """Yields the plan with each strategy, and with recomputation where it does not fit otherwise."""
    for strategy in STRATEGIES:
        layout = known.layout._replace(strategy=strategy, state=state_of(strategy), offload=False)
        found = plan(known.shape, layout, known.gpu, known.fabric, known.conditions)
        yield found
        if not found.fits and layout.recompute != "full":
            again = layout._replace(recompute="full")
            yield plan(known.shape, again, known.gpu, known.fabric, known.conditions)


def on_nodes(known: Plan) -> Iterator[Plan]:
    """Yields the plan on 1, 2, 4 ... nodes, up to four times as many as it has, with the same tokens in a step.

    Numbers of nodes that cannot share the step's sequences equally are left out.
    """
    layout, sequences = known.layout, known.layout.global_batch
    nodes = 1
    while nodes <= 4 * layout.nodes:
        gpus = nodes * layout.gpus_per_node
        copies, rest = divmod(gpus, layout.tensor * layout.pipeline)
        if copies and not rest and not sequences % copies:
            per_rank = sequences // copies
            micro = math.gcd(layout.micro_batch, per_rank)
            other = layout._replace(gpus=gpus, micro_batch=micro, accumulation=per_rank // micro)
            yield plan(known.shape, other, known.gpu, known.fabric, known.conditions)
        nodes *= 2
