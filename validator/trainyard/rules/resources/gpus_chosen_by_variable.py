"""`NVIDIA_VISIBLE_DEVICES` of the container replaces the GPUs that the device plugin gives to it.

The device plugin passes the GPUs of its choice in this variable, and a value in the container's `env` wins. With `0`,
all pods of a node train on the same GPU, and with `all` each of them sees the GPUs of the others. The scheduler counts
GPUs that are not the ones in use. `all` in a container that requests eight GPUs is left alone: it has a whole node. So
is `all` in one that requests four, or all that a node of its pool has, if no container in the files requests more.

Remove the variable. `CUDA_VISIBLE_DEVICES` chooses among the container's own GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value, name_at, remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Setting

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
# Words with which the container has no GPU by the variable.
NOTHING = ("", "void", "none")
# Few nodes have more GPUs, so a pod with so many leaves none to others.
_WHOLE_NODE = 8
# Many nodes have four, and then no pod of the cluster requests more.
_SMALL_NODE = 4


@rule(
    code="RS015",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/k8s-device-plugin v0.17.0 internal/plugin/server.go: updateResponseForDeviceListEnvVar",
        "kubernetes v1.34.4 pkg/kubelet/kubelet_pods.go: GenerateRunContainerOptions, env after that of devices",
        "github.com/NVIDIA/nvidia-docker issue 900",
    ),
    fix="unsafe",
    needs=(VISIBLE,),
)
def gpus_chosen_by_variable(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report GPUs that the container takes beside those it requests."""
    container = context.container
    value = literal_value(setting) if setting.name == VISIBLE and setting.via in ("env", "envFrom") else None
    if value is None or container is None or value in NOTHING:
        return
    if value == "all" and (container.gpus >= _WHOLE_NODE or _SMALL_NODE <= container.gpus == _most.of(context.project)):
        return
    if container.gpus and any(name.startswith("nvidia.com/") for name in container.limits):
        yield Problem(
            name_at(setting),
            f"{VISIBLE} `{value}` replaces the choice of the device plugin, which gives the container {container.gpus}",
            "remove it",
            remove_variable(setting),
        )


# The most GPUs that a container of the files requests.
_most: LastIndex[Project, int] = LastIndex(
    lambda project: max((container.gpus for run in project.runs for container in run.containers), default=0)
)
