"""`NCCL_ALGO` leaves a collective without an algorithm, and since NCCL 2.24 such a call fails.

Ring is the only algorithm that every collective has; Broadcast and Reduce have no other. Tree, NVLSTree and
CollNetChain serve AllReduce only, and PAT serves AllGather and ReduceScatter. Up to 2.23 NCCL fell back to Ring. Since
2.24 it does not: with `NCCL_ALGO=Tree` the AllReduce of a benchmark passes, but the first Broadcast of the training
(DDP broadcasts the weights with it) fails with `No algorithm/protocol available for function Broadcast`.

The rule ignores containers that run the benchmarks of nccl-tests (`all_reduce_perf` and others). It needs to know that
NCCL is 2.24 or later, from the target or from the image of the container.

Add Ring to the list, restrict a single function (`allreduce:tree`), or leave the variable unset.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.pods.settings import change_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.tuning import ALGORITHMS, ALGORITHMS_OF, STRICT, Refused, selected
from trainyard.facts.versions import since
from trainyard.model.run import Container, Setting


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
    """A list of algorithms that leaves a collective without one."""
    value = setting.value or ""
    if setting.name != "NCCL_ALGO":
        return
    release = versions.nccl(context)
    if not since(release.version, STRICT):
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
            "add Ring to the list, or restrict a single function, as in `allreduce:tree`",
            change_value(setting, f"Ring,{value}") if for_all else (),
            rests_on=release,
        )


def _benchmark(container: Container | None) -> bool:
    commands = container.commands if container is not None else ()
    return any(word.endswith("_perf") for command in commands for word in command.words)
