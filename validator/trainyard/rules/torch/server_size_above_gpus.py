"""A model server wants more GPUs than its container has, so it stops at start-up.

vLLM and SGLang place a process on each of tensor x pipeline x data parallel GPUs. With fewer GPUs, they end: "Tensor
parallel size (16) cannot be larger than the number of available GPUs (8)". The data parallel size multiplies the
others: 4 x 4 needs 16 GPUs. `trtllm-serve` has no data parallel size.

The rule leaves out servers of several nodes: those of Ray, with `--nnodes` or with options of distributed data
parallelism. The pods of a group of a LeaderWorkerSet count together.

Lower a size, or request more GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_ray
from trainyard.analysis.launchers.model_servers import only_server, sizes, whole_gpus
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD031",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "vllm-project/vllm v0.11 vllm/config/parallel.py: ParallelConfig, world_size and the number of devices",
        "sgl-project/sglang v0.5 python/sglang/srt/server_args.py: tp_size, pp_size, dp_size",
        "github.com/GitM-Labs/runtime pull 76, github.com/NVIDIA-NeMo/Skills issue 1059",
    ),
    needs=("parallel-size", "parallel_size", "--tp", "-tp", "--dp", "-dp", "--pp", "-pp"),
)
def server_size_above_gpus(container: Container, context: Context) -> Iterator[Problem]:
    """Report parallel sizes whose product is above the number of GPUs."""
    gpus = whole_gpus(container) if container.gpus else None
    start = only_server(container) if gpus is not None else None
    if gpus is None or start is None or is_ray(context.run) or container.setting("RAY_ADDRESS"):
        return
    found = sizes(start)
    total = math.prod(size.value for size in found) if found is not None else 0
    pods = context.run.nodes or 1 if context.run is not None and context.run.kind == "LeaderWorkerSet" else 1
    if found is None or total <= gpus[1] * pods:
        return
    largest = max((size for size in found if size.at is not None), key=lambda size: size.value)
    if largest.at is not None:
        product = " x ".join(f"{size.option.lstrip('-')} {size.value}" for size in found if size.value > 1)
        holder = "the container" if pods == 1 else f"the group of {pods} pods"
        equal = f" = {total}" if " x " in product else ""
        yield Problem(
            largest.at,
            f"{start.server.name} needs a GPU for each of {product}{equal}, and {holder} has {gpus[1] * pods}",
            "lower a size, or request more GPUs",
        )
