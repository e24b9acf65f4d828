"""A plan as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.commands.plan.estimate import BEST, WORST, Plan, Range
from trainyard.commands.plan.job import Job, racks
from trainyard.commands.plan.settings import Settings
from trainyard.counting import counted

# Published runs gather weights as fast as estimated over so many ranks, and over three times as many they do not.
FEW_RANKS = 512
_UNITS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def size(number: float) -> str:
    """Returns bytes in words, as `96.4 GB`; units are powers of 1,000."""
    for factor, unit in _UNITS:
        if number >= factor:
            return f"{number / factor:.3g} {unit}" if number < 1000 * factor else f"{number / factor:,.0f} {unit}"
    return f"{number:.0f} B"


def duration(seconds: float) -> str:
    """Returns seconds in words, as `2.1 hours`."""
    for factor, unit in ((2 * 86400, "days"), (2 * 3600, "hours"), (120, "minutes")):
        if seconds >= factor:
            whole = {"days": 86400, "hours": 3600, "minutes": 60}[unit]
            return f"{seconds / whole:,.1f} {unit}"
    return f"{seconds:.3g} s"


def text(plan: Plan, settings: Settings, job: Job | None) -> str:
    """Returns the plan for a person."""
    lines = [
        *_section("run", _run(plan, settings, job)),
        *_section(f"memory per GPU, of {size(plan.gpu.memory)}", _memory(plan)),
        *_section("bytes per step", _traffic(plan)),
        *_section("time", _time(plan)),
        *_section("failures", _failures(plan)),
    ]
    if (cost := plan.cost) is not None:
        said = f"{cost.best:,.0f} to {cost.worst:,.0f}, expected {cost.expected:,.0f}"
        lines += _section("cost", [("total", f"{said}, at {plan.conditions.price:g} per GPU and hour")])
    lines += _section("assumptions", [("", words) for words in _assumptions(plan, settings)])
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    return [title, *(f"  {name:<14} {words}" if name else f"  {words}" for name, words in rows), ""]


def _run(plan: Plan, settings: Settings, job: Job | None) -> Iterator[tuple[str, str]]:
    layout = plan.layout
    if job is not None:
        yield "job", f"{job.kind} {job.name}, {counted(job.pods, 'pod')} of {counted(job.gpus_per_pod, 'GPU')}"
    count = counted(racks(layout.nodes, settings.nodes_per_rack), "rack")
    on = f"{counted(layout.nodes, 'node')}, {count} of {settings.nodes_per_rack}"
    yield "takes", f"{layout.gpus} {plan.gpu.name} on {on}"
    yield "network", f"{plan.fabric.name}, {plan.fabric.rate * 8 / 1e9:g} Gbit/s per node"
    yield "model", f"{plan.shape.name}, {plan.shape.parameters / 1e9:.4g} billion parameters"
    yield "layout", _layout(plan)
    yield (
        "step",
        f"{layout.tokens_per_step:,} tokens: {counted(layout.global_batch, 'sequence')} of {layout.sequence}, "
        f"{counted(layout.accumulation, 'micro-batch')} of {layout.micro_batch} per rank",
    )


def _layout(plan: Plan) -> str:
    layout = plan.layout
    words = [f"{layout.strategy} over {layout.data} ranks"]
    if layout.strategy == "hsdp":
        words.append(f"in shards of {layout.sharding}")
    words += [f"{name} {count}" for name in ("tensor", "pipeline") if (count := getattr(layout, name)) > 1]
    if layout.offload:
        words.append("optimizer offloaded")
    words += [layout.dtype, f"recomputation {layout.recompute}"]
    return ", ".join(words)


def _memory(plan: Plan) -> Iterator[tuple[str, str]]:
    used = plan.memory
    for name in ("weights", "gradients", "optimizer", "activations", "gathered", "logits", "reserve"):
        if number := getattr(used, name):
            yield name, size(number)
    if used.host:
        yield "on the host", size(used.host)
    yield "total", size(used.total) + ("" if plan.fits else f": does not fit into {size(plan.gpu.memory)}; {_advice()}")


def _advice() -> str:
    return "`--compare` shows what does; `--recompute full`, a smaller --micro-batch or a larger --tensor take less"


def _traffic(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "in the node", f"{size(plan.traffic.node)} from each GPU, at {size(plan.gpu.link)}/s"
    yield "between nodes", f"{size(plan.traffic.fabric)} from each node, at {size(plan.fabric.rate)}/s"
    for name, link in plan.traffic._asdict().items():
        if link.node or link.fabric:
            yield f"  {name}", f"{size(link.node)} in the node, {size(link.fabric)} between nodes"


def _time(plan: Plan) -> Iterator[tuple[str, str]]:
    took = plan.timing
    yield "step", _range(plan.step, duration)
    network = took.tensor + took.exposed + took.pipeline
    parts = f"computation {duration(took.compute)}, network that is not hidden {duration(network)}"
    yield "of which", f"{parts}, pipeline bubble {duration(took.bubble)}"
    yield "bound by", took.bound
    rate = plan.tokens_per_second
    yield "speed", f"{rate:,.0f} tokens/s, {rate / plan.layout.gpus:,.0f} per GPU, MFU {100 * plan.mfu:.0f} %"
    yield "scaling", f"{100 * plan.scaling:.0f} % of the speed per GPU of the smallest run"
    yield f"{_count(plan.conditions.tokens)} tokens", _range(plan.days.scaled(86400), duration)


def _count(number: float) -> str:
    for factor, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if number >= factor:
            return f"{number / factor:.3g}{unit}"
    return f"{number:.0f}"


def _range(values: Range, said: Any) -> str:
    return f"{said(values.best)} to {said(values.worst)}, expected {said(values.expected)}"


def _failures(plan: Plan) -> Iterator[tuple[str, str]]:
    lost = plan.failures
    yield "checkpoint", f"{size(lost.checkpoint)}, saved in {duration(lost.save)} at {size(plan.conditions.storage)}/s"
    yield "a failure", f"every {duration(lost.mtbf)}, and costs {duration(lost.lost_per_failure)}"
    yield (
        "best interval",
        f"{duration(lost.interval)} between saves (Daly); {100 * lost.lost:.2g} % of the time is lost",
    )


def _assumptions(plan: Plan, settings: Settings) -> Iterator[str]:
    yield from settings.assumptions
    yield f"the range is {BEST:g} to {WORST:g} times the expected time, as of four in five published runs"
    yield "saves stop the run; sequences are full; data loading and evaluation take no time"
    layout = plan.layout
    if layout.offload:
        yield "the step of the optimizer on the host takes the time of its transfers; a slow processor takes longer"
    if layout.strategy in ("fsdp", "zero3") and layout.sharding > FEW_RANKS:
        yield f"weights over {layout.sharding} ranks: ZeRO-3 of 2021 was 3.6 times slower on 1,536 (arXiv:2104.04473)"
    if "inferred" in plan.gpu.source:
        yield f"{plan.gpu.name}: the share of the peak that matrices reach is inferred, and no published run tests it"


def comparison(plans: Sequence[Plan]) -> str:
    """Returns the plans side by side."""
    columns = ("strategy", "recompute", "memory", "fits", "between nodes", "step", "bound by", "days")
    rows = [
        (
            plan.layout.strategy,
            plan.layout.recompute,
            size(plan.memory.total),
            "yes" if plan.fits else "no",
            size(plan.traffic.fabric),
            duration(plan.step.expected),
            plan.timing.bound,
            f"{plan.days.best:.1f} to {plan.days.worst:.1f}",
        )
        for plan in plans
    ]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    return "".join("  ".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in (columns, *rows))


def tree(plan: Plan, settings: Settings, job: Job | None) -> dict[str, Any]:
    """Returns the plan for a program: bytes, seconds, and days."""
    layout, took, cost = plan.layout, plan.timing, plan.cost
    return {
        "run": {
            "kind": job.kind if job is not None else None,
            "name": job.name if job is not None else None,
            "pods": job.pods if job is not None else None,
            "gpus": layout.gpus,
            "nodes": layout.nodes,
            "racks": racks(layout.nodes, settings.nodes_per_rack),
            "gpu": plan.gpu.name,
            "fabric": plan.fabric.name,
            "fabricBytesPerSecond": plan.fabric.rate,
        },
        "model": {"name": plan.shape.name, "parameters": plan.shape.parameters},
        "layout": {
            **{name: getattr(layout, name) for name in ("strategy", "tensor", "pipeline", "virtual", "dtype")},
            "recompute": layout.recompute,
            "offload": layout.offload,
            "sequence": layout.sequence,
            "microBatch": layout.micro_batch,
            "accumulation": layout.accumulation,
            "globalBatch": layout.global_batch,
            "tokensPerStep": layout.tokens_per_step,
        },
        "memory": {**plan.memory._asdict(), "total": plan.memory.total, "gpu": plan.gpu.memory, "fits": plan.fits},
        "traffic": {
            "node": plan.traffic.node,
            "fabric": plan.traffic.fabric,
            **{name: link._asdict() for name, link in plan.traffic._asdict().items()},
        },
        "time": {
            "step": plan.step._asdict(),
            "parts": took._asdict(),
            "bound": took.bound,
            "tokensPerSecond": plan.tokens_per_second,
            "mfu": plan.mfu,
            "scalingEfficiency": plan.scaling,
            "tokens": plan.conditions.tokens,
            "days": plan.days._asdict(),
        },
        "failures": plan.failures._asdict(),
        "cost": cost._asdict() if cost is not None else None,
        "assumptions": list(_assumptions(plan, settings)),
    }
