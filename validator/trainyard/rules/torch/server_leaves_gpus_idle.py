"""A model server uses fewer GPUs than its container has, and the others stay idle.

vLLM and SGLang use one GPU unless an option says otherwise. They use tensor x pipeline x data parallel GPUs, and no
message tells that others are free.

The rule leaves out servers whose sizes are in a file or depend on other pods, and scripts that may start several.

Set `--tensor-parallel-size` to the number of GPUs, or request fewer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_ray
from trainyard.analysis.launchers.model_servers import only_server, sizes, whole_gpus
from trainyard.analysis.resources.devices import quantity_at
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD032",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "vllm-project/vllm v0.11 vllm/engine/arg_utils.py: tensor_parallel_size, 1 by default",
        "github.com/kubernetes-sigs/gateway-api-inference-extension issue 28",
    ),
    needs=("vllm", "sglang", "trtllm-serve"),
)
def server_leaves_gpus_idle(container: Container, context: Context) -> Iterator[Problem]:
    """Report GPUs that a server does not use."""
    gpus = whole_gpus(container) if container.gpus > 1 else None
    start = only_server(container) if gpus is not None else None
    if gpus is None or start is None or is_ray(context.run) or any("RAY" in one.name for one in container.settings):
        return
    if container.setting("CUDA_VISIBLE_DEVICES") or any("$" in word for word in start.command.words):
        return
    found = sizes(start)
    total = math.prod(size.value for size in found) if found is not None else 0
    if found is not None and total < gpus[1]:
        yield Problem(
            quantity_at(context.run, context.role, container, "limits", gpus[0]),
            f"{start.server.name} uses {total} of {gpus[1]} GPUs: the product of its parallel sizes is {total}",
            "set the tensor parallel size to the number of GPUs, or request fewer",
        )
