"""`CUDA_VISIBLE_DEVICES` names a GPU that the container does not have, so its programs see fewer GPUs or none.

A container sees its own GPUs, numbered from 0, whatever their numbers on the node. CUDA ignores an index that does not
exist, and all that follow it: with one GPU, `CUDA_VISIBLE_DEVICES=1` hides it. The deepspeed launcher stops with "No
slot '1' specified on host 'localhost'".

The rule leaves out privileged containers and those that choose GPUs themselves: these may see all GPUs of the node.

Remove the variable, or count from 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.analysis.pods.mounts import mounts_devices
from trainyard.analysis.pods.settings import literal_value
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting

_VARIABLE = "CUDA_VISIBLE_DEVICES"


@rule(
    code="RS016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.nvidia.com/cuda/cuda-c-programming-guide: CUDA_VISIBLE_DEVICES, an invalid index ends the list",
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: parse_resource_filter; github.com/01-ai/Yi issue 392",
    ),
    needs=(_VARIABLE,),
)
def visible_devices_beyond_gpus(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report indexes of GPUs that are not there."""
    container, pod = context.container, context.pod
    value = literal_value(setting) if setting.name == _VARIABLE else None
    if value is None or container is None or pod is None:
        return
    told = whole_gpus(container)
    indexes = [decimal(one.strip()) for one in value.split(",")]
    if told is None or told[0] != "nvidia.com/gpu" or None in indexes:
        return
    numbers = [index for index in indexes if index is not None]
    seen = list(itertools.takewhile(lambda index: index < told[1], numbers))
    # All GPUs and more, in their order, loses none of them.
    if len(seen) == len(numbers) or len(seen) >= told[1]:
        return
    if container.privileged or container.setting("NVIDIA_VISIBLE_DEVICES") or mounts_devices(pod, "/dev/nvidia"):
        return
    has = "GPU 0" if told[1] == 1 else f"the GPUs 0 to {told[1] - 1}"
    yield Problem(
        setting.at,
        f"{_VARIABLE}={value} names GPU {numbers[len(seen)]}, but the container has {has}: "
        f"it sees {len(seen)} GPU{'' if len(seen) == 1 else 's'}",
        "remove the variable, or count from 0",
    )
