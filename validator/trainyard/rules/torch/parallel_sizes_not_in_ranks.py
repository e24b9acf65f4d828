"""The product of the parallel sizes does not divide the number of ranks, so every process stops at start-up.

Each rank belongs to one group of every kind of parallelism. Megatron-LM needs a number of ranks that is a multiple of
tensor x pipeline x context, and of expert tensor x expert x pipeline. torchtitan needs a multiple of the product of its
degrees. It counts context parallelism as one of them: `data_parallel_shard_degree` 8 with `context_parallel_degree` 8
needs 64 GPUs. Its experts are shared among the ranks of a pipeline stage and replica: `expert_parallel_degree` 16 needs
16 of them.

The rule compares the sizes in the command with the ranks that torchrun starts. It does not know sizes in other files.

Lower a size, or use more GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import node_range, processes_per_node, torchrun_commands
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Command, Role

# Sizes whose product divides the number of ranks. Options have dashes here.
GROUPS = (
    ("--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size"),
    ("--expert-tensor-parallel-size", "--expert-model-parallel-size", "--pipeline-model-parallel-size"),
    (
        "--parallelism.data-parallel-replicate-degree", "--parallelism.data-parallel-shard-degree",
        "--parallelism.tensor-parallel-degree", "--parallelism.context-parallel-degree",
        "--parallelism.pipeline-parallel-degree",
    ),
    (
        "--parallelism.expert-parallel-degree", "--parallelism.expert-tensor-parallel-degree",
        "--parallelism.data-parallel-replicate-degree", "--parallelism.pipeline-parallel-degree",
    ),
)  # fmt: skip


@rule(
    code="TD017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/Megatron-LM core_v0.15.0 megatron/core/parallel_state.py: initialize_model_parallel",
        "pytorch/torchtitan torchtitan/distributed/parallel_dims.py: ParallelDims._validate; issue 1184",
        "pytorch/torchtitan v0.2.0 line 57, v0.2.2 line 201 and b5bcd76c line 188 of it: ranks of experts; pull 4258",
    ),
    needs=("parallel",),
)
def parallel_sizes_not_in_ranks(role: Role, context: Context) -> Iterator[Problem]:
    """Sizes whose product does not divide the number of ranks."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains:
        return
    launches = list(torchrun_commands(container))
    commands = [command for command in container.commands if any(command.at == launch.at for launch in launches)]
    if len(launches) != 1 or len(commands) != 1:
        return
    nodes = node_range(launches[0], container, run)
    processes = count(processes_per_node(launches[0], container, run))
    if nodes is None or nodes[0] != nodes[1] or not processes:
        return
    for group in GROUPS:
        yield from _fault(commands[0], group, nodes[0] * processes)


def _fault(command: Command, group: tuple[str, ...], ranks: int) -> Iterator[Problem]:
    found: dict[str, tuple[int, Place]] = {}
    for name in group:
        option = command.option_at(name)
        size = decimal(option[0]) if option is not None else None
        if option is not None and size is None and option[0] != "-1":
            return
        if option is not None and size:
            found[name] = (size, option[1])
    # Sizes of experts stand in a group of their own; the others are judged there.
    if not any(name in found for name in (group[:2] if "expert" in group[0] else group)):
        return
    product = math.prod(size for size, _ in found.values())
    if ranks % product:
        sizes = " x ".join(f"{name.removeprefix('--').rpartition('.')[2]} {size}" for name, (size, _) in found.items())
        at = max(found.values(), key=lambda one: one[0])[1]
        yield Problem(at, f"{sizes} = {product} does not divide {ranks} ranks", "lower a size, or use more GPUs")
