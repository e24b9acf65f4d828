"""The formulas of docs/plan.md and its sentences with numbers: the code of `trainyard plan` gives each number."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainyard.commands.plan import failures
from trainyard.commands.plan.fabrics import fabric_of
from trainyard.commands.plan.hardware import gpu_of
from trainyard.commands.plan.layout import STATES, Layout
from trainyard.commands.plan.memory import ACCURACY, memory, stage_parameters
from trainyard.commands.plan.published import Published
from trainyard.commands.plan.shapes import shape_of
from trainyard.commands.plan.timing import timing
from trainyard.commands.plan.traffic import all_reduce_bytes, gather_bytes, traffic

COLUMNS = ("estimate", "formula", "source")
SUMS = Path(__file__).parents[2] / "tests" / "validator" / "plan" / "sums.csv"
_SHAPE, _RANKS = shape_of("llama-3-8b"), 8
_ALONE = Layout(1, 1, "ddp", 8192, 1, 1)


def formulas() -> Iterator[Sequence[str]]:
    """Yield the rows of the table; the numbers in the first two columns are computed."""
    layers, width = _SHAPE.layers, _SHAPE.attention_width
    matrix = _SHAPE.matrix_flops() / (layers * _SHAPE.matrix_parameters)
    attention = _SHAPE.attention_flops(1) / (layers * width)
    ring = all_reduce_bytes(1, 2) / ((2 - 1) / 2)
    part = {0.5: "half"}[gather_bytes(1, _RANKS) / all_reduce_bytes(1, _RANKS)]
    interval = failures.young(1, 1) ** 2
    yield (
        "operations of a token",
        f"{matrix:g} per parameter of a matrix, and {attention:g} × layers × width × sequence for attention",
        "PaLM, arXiv:2204.02311, appendix B",
    )
    yield (
        "weights, gradients, optimizer",
        f"{_bytes():g} bytes per parameter, divided by the ranks that share them",
        "ZeRO, arXiv:1910.02054, section 3.1",
    )
    yield (
        "activations",
        "norms, queries, keys, values, outputs and MLP of each layer, with fused attention",
        "arXiv:2205.05198, section 4",
    )
    yield (
        "ring all-reduce",
        f"{ring:g} × (N − 1) / N × size; an all-gather or reduce-scatter {part} of it",
        "Patarasuk and Yuan, 2009; `NVIDIA/nccl-tests`, PERFORMANCE.md",
    )
    yield (
        "tensor parallelism",
        f"{_per_layer('none'):g} all-reduces of the activations per layer, {_per_layer('full'):g} with recomputation",
        "Megatron-LM, arXiv:1909.08053, section 3",
    )
    yield (
        "pipeline bubble",
        f"(stages − {_idle():g}) / (pieces × micro-batches) of the computation",
        "arXiv:2104.04473, section 2.2",
    )
    yield (
        "best interval between saves",
        f"√({interval:g} × save × MTBF), with the terms of higher order",
        "Young, 1974; Daly, 2006, equation 37",
    )


def _bytes() -> float:
    """Return the bytes per parameter before sharding, which all states have alike."""
    (total,) = {sum(one) for one in STATES.values()}
    found = memory(_SHAPE, _ALONE)
    assert found.weights + found.gradients + found.optimizer == total * stage_parameters(_SHAPE, _ALONE)
    return total


def _per_layer(recompute: str) -> float:
    layout = _ALONE._replace(gpus=_RANKS, gpus_per_node=_RANKS, tensor=_RANKS, recompute=recompute)
    one = all_reduce_bytes(layout.micro_tokens * _SHAPE.hidden * layout.compute_bytes, _RANKS)
    return traffic(_SHAPE, layout).tensor.node / one / _SHAPE.layers


def _idle() -> float:
    """Return what is taken from the number of stages."""
    stages = 4
    found = timing(_SHAPE, _ALONE._replace(gpus=stages, pipeline=stages), gpu_of("h100-sxm"), fabric_of("8x400"))
    busy = found.matrices + found.attention + found.activations + found.tensor
    return stages - round(found.bubble / busy, 6)


def states() -> Iterator[str]:
    """Yield what the strategies keep."""
    yield (
        "`ddp`, `fsdp` and `hsdp` keep weights, gradients and AdamW's state in fp32, as PyTorch with autocast does. "
        f"`zero1` to `zero3` keep weights and gradients of {8 * STATES['mixed'][0]} bits beside an "
        f"fp32 copy, as DeepSpeed "
        f"does. Both take {_bytes():g} bytes per parameter before sharding. `--tensor` and "
        f"`--pipeline` combine with each "
        "strategy."
    )


def slow_network(days: Mapping[int, float]) -> Iterator[str]:
    """Yield what the picture shows, from the days on some numbers of nodes."""
    rate = fabric_of("ethernet-100g").rate * 8 / 1e9
    shown = ", ".join(f"{took:.0f} on {nodes}" for nodes, took in days.items())
    yield (
        "`--plot` draws the days against the number of nodes, with the same tokens in a step. With this network of "
        f"{rate:g} Gbit/s, the days by nodes are {shown}. A PNG (`--plot time.png`) needs a renderer: "
        "`python -m pip install '.[plot]'`."
    )


def checked() -> Iterator[str]:
    """Yield how the memory is tested."""
    yield (
        "Tests compare the memory with PyTorch's own accounting: parameters, gradients and AdamW's state of the "
        "reference trainer's models, and the tensors that autograd keeps. Activations are within "
        f"{ACCURACY:.0%}. An RMSNorm on a processor keeps one more tensor than on a GPU, which the "
        f"test adds. The reserve "
        "for CUDA, NCCL and the allocator is inferred, and no test checks it."
    )


def history(runs: Sequence[Published]) -> Iterator[str]:
    """Yield how the published runs were chosen."""
    later = [run for run in runs if run.use == "later"]
    whole = [run for run in runs if run.shape.name == "llama-3-405b"]
    yield (
        "The runs, and the error allowed for each, were written down before the formulas. Afterwards, runs before "
        "FlashAttention were marked as having attention that is not fused, and some entries were corrected. The "
        f"{len(whole)} runs of Llama 3 405B do not reshard weights, as their paper says. Runs that "
        f"state no layout have one "
        f"that does not shard weights. {len(later)} runs were added when the constants were set, and "
        f"changed nothing. Of "
        "table 1 of arXiv:2104.04473, only the first and the last row could be compared with the text."
    )


def sums() -> Iterator[str]:
    """Yield the sum of the tutorial that does not hold."""
    with SUMS.open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["sum"] == "compute_days"]
    (row,) = (one for one in rows if "gpus=2048" in one["inputs"])
    given = {name: float(value) for name, value in (pair.split("=") for pair in row["inputs"].split())}
    parameters, tokens = 70e9, 15e12
    needed = _SHAPE.matrix_flops() / (_SHAPE.layers * _SHAPE.matrix_parameters) * parameters * tokens
    yield (
        "Tests also repeat the sums of a tutorial on distributed training. One of them is "
        f"{given['flops']:.1e} operations for Llama 3 70B, hence {float(row['expected']):g} days on "
        f"{given['gpus']:,.0f} A100. The formula above gives {needed:.1e} for {parameters / 1e9:g} "
        f"billion parameters and {tokens / 1e12:g} trillion "
        f"tokens, which is {needed / given['flops']:.0f} times as many, and so are the days."
    )
