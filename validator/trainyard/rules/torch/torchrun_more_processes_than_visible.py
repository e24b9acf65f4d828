"""torchrun starts more processes than `CUDA_VISIBLE_DEVICES` leaves GPUs, so the extra processes fail.

Each process uses the GPU with the number of its `LOCAL_RANK`, counted among the visible ones. With two visible GPUs and
eight processes, six fail with `invalid device ordinal`, and torchrun stops the rest. In a pod the variable is
seldom useful: the device plugin already gives the container its own GPUs.

Remove the variable, or start as many processes as it has entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import processes_per_node, torchrun_commands
from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Role

VARIABLE = "CUDA_VISIBLE_DEVICES"


@rule(
    code="TD015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.nvidia.com/cuda/cuda-c-programming-guide: CUDA environment variables",
        "pytorch 2.15.0 torch/distributed/run.py: --nproc-per-node, LOCAL_RANK",
        "github.com/pytorch/torchtitan issue 423",
    ),
    needs=(VARIABLE,),
)
def torchrun_more_processes_than_visible(role: Role, context: Context) -> Iterator[Problem]:
    """Processes without a visible GPU."""
    container, run = role.container, context.run
    setting = container.setting(VARIABLE) if container is not None else None
    if container is None or run is None or setting is None or not role.trains:
        return
    value = literal_value(setting)
    if not value or value.startswith("-") or not container.gpus:
        return
    visible = len([entry for entry in value.split(",") if entry.strip()])
    for launch in torchrun_commands(container):
        started = count(processes_per_node(launch, container, run))
        if started and started > visible:
            yield Problem(
                setting.at,
                f"{VARIABLE}={value} leaves {visible} GPU{'s' * (visible > 1)} for {started} processes of torchrun",
                "remove the variable",
            )
