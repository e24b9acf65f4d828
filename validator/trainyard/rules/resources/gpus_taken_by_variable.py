"""The container takes GPUs of its node by `NVIDIA_VISIBLE_DEVICES`, and requests none.

With the NVIDIA runtime as default, the variable gives the container these GPUs, past the scheduler and the device
plugin. They are not counted: the plugin gives the same GPUs to other pods, and programs run out of memory because of
each other. On a node with another runtime, or where the plugin uses mounts or CDI, the container has no GPU.

The rule applies to jobs, servers and Pods. It leaves out DaemonSets, which watch the GPUs of each node, privileged
containers, pods that name a runtime class, and pods with a GPU in another container.

Request the GPUs with a limit such as `nvidia.com/gpu: 1`, and remove the variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounts import mounts_devices
from trainyard.analysis.pods.settings import literal_value, name_at
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Container, Pod, Workload

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
NOTHING = ("", "void", "none")
# Programs that look at GPUs and do not use them, by a part of the image.
WATCHES = ("dcgm", "exporter", "monitor", "nvtop", "device-plugin", "feature-discovery", "netdata", "telegraf")


@rule(
    code="RS021",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/k8s-device-plugin README.md: a container that requests no GPU with the NVIDIA runtime sees all of them",
        "NVIDIA/nvidia-container-toolkit config.toml: accept-nvidia-visible-devices-envvar-when-unprivileged",
        "github.com/NVIDIA/k8s-device-plugin issue 1376",
    ),
    needs=(VISIBLE,),
)
def gpus_taken_by_variable(run: Workload) -> Iterator[Problem]:
    """Report GPUs that a container takes past the scheduler."""
    if run.kind == "DaemonSet" or run.kind in RUNTIMES or run.namespace == "kube-system":
        return
    for role in run.roles:
        for container in role.pod.containers if _is_plain(role.pod) else ():
            setting = container.setting(VISIBLE)
            value = literal_value(setting) if setting is not None and setting.via == "env" else None
            if setting is None or value is None or value in NOTHING or _is_other(container):
                continue
            yield Problem(
                name_at(setting),
                f"{VISIBLE} `{value}` takes GPUs that the container does not request: other pods get the same ones",
                "request them with a limit such as `nvidia.com/gpu: 1`, and remove the variable",
            )


def _is_plain(pod: Pod) -> bool:
    """True if no device of the pod comes in another way."""
    named = pod.tree.get("runtimeClassName") or items(pod.tree, "resourceClaims") or pod.tree.get("hostPID")
    return not named and not wants_gpu(pod) and not mounts_devices(pod, "/dev/nvidia")


def _is_other(container: Container) -> bool:
    """True for a container that watches GPUs, or gets devices of another plugin."""
    devices = any("/" in str(name) for name in (*container.limits, *container.requests))
    watches = any(word in (container.image or "").lower() for word in WATCHES)
    return devices or watches or container.privileged
