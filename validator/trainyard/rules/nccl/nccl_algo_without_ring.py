"""Since NCCL 2.24 a collective fails when `NCCL_ALGO` leaves it without an algorithm that can serve it.

Ring is the only algorithm that every collective has; Broadcast and Reduce have no other. Tree, NVLSTree and
CollNetChain serve AllReduce alone, PAT serves AllGather and ReduceScatter. Up to 2.23 NCCL fell back to Ring by itself.
Since 2.24 it does not: `NCCL_ALGO=Tree` lets the AllReduce of a benchmark pass, and the first Broadcast of the training
(the one with which DDP spreads the weights) ends with `No algorithm/protocol available for function Broadcast`.

Containers that run the benchmarks of nccl-tests (`all_reduce_perf` and others) are left alone, and targets before 2.24.

Add Ring to the list, restrict one function only (`allreduce:tree`), or leave the variable unset.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed
from validator.facts.nccl_tuning import ALGORITHMS, ALGORITHMS_OF, STRICT, Refused, selected
from validator.model import Container, Setting
from validator.rule import Context, Problem, rule


@rule(
    code="NC022",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_ALGO",
        "NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc: ncclTopoTuneModel; src/enqueue.cc: no algorithm/protocol available",
    ),
    fix="unsafe",
    needs=("NCCL_ALGO",),
)
def nccl_algo_without_ring(setting: Setting, context: Context) -> Iterator[Problem]:
    """A list of algorithms that leaves a collective with none."""
    value = setting.value or ""
    if setting.name != "NCCL_ALGO" or not value or "$" in value:
        return
    if context.target.nccl is not None and context.target.nccl < STRICT:
        return
    try:
        left = selected(value, ALGORITHMS)
    except Refused:
        return
    empty = [function for function, algorithms in left.items() if not algorithms & ALGORITHMS_OF[function]]
    if empty and not _benchmark(context.container):
        for_all = ":" not in value.split(";")[0] and not value.startswith("^")
        yield Problem(
            setting.at,
            f"NCCL_ALGO=`{value}` leaves {', '.join(empty)} without an algorithm: since NCCL 2.24 such a call fails",
            "add Ring to the list, or name the function that is meant, as in `allreduce:tree`",
            changed(setting, f"Ring,{value}") if for_all else (),
        )


def _benchmark(container: Container | None) -> bool:
    commands = container.commands if container is not None else ()
    return any(word.endswith("_perf") for command in commands for word in command.words)
