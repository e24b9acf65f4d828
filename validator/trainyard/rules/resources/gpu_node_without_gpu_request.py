"""The pod is placed on GPU nodes and runs a program for GPUs, but no container requests one.

Only the device plugin counts and isolates GPUs, for containers with a limit such as `nvidia.com/gpu: 1`. Without one, a
container sees no GPU, or with the NVIDIA runtime as default it sees all GPUs of the node, which other pods use.

GKE also taints nodes with GPUs, and adds the toleration to pods that request one: others stay Pending.

The rule applies to jobs and single pods with a node selector for GPUs, an image of CUDA or PyTorch, and no device of
any plugin. A host name is no such selector: it may be the node of a volume. With GKE's selector it applies to any image
without a toleration. It ignores privileged containers, those that set `NVIDIA_VISIBLE_DEVICES`, device claims, devices
of the node that are mounted, and programs that only list devices.

Add a limit of the device, or remove the node selector.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.launchers.training_commands import starts_no_ranks
from trainyard.analysis.pods.mounts import mounts_devices
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Container, Pod
from trainyard.startup import pattern

GKE = "cloud.google.com/gke-accelerator"
LABELS = ("nvidia.com/gpu", GKE, "k8s.amazonaws.com/accelerator")
WORD = pattern(r"(?i)(^|[-_])gpus?([-_]|$)")
WITHOUT = pattern(r"(?i)(^|[-_])(no|non|not|without|cpu)[-_]")
IMAGE = pattern(r"(^|/)(nvidia/)?cuda:|[:-]cu(da)?1[0-9]|(^|/)nvidia/pytorch:")


@rule(
    code="RS014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus: GPUs are only in the limits section",
        "NVIDIA/k8s-device-plugin README.md: a container that requests no GPU with the NVIDIA runtime sees all of them",
        "github.com/NVIDIA/k8s-device-plugin issue 195, github.com/NVIDIA/aicr issue 2280",
        "cloud.google.com/kubernetes-engine/docs/how-to/gpus: GKE taints GPU nodes; github.com/nyu-mll/jiant pull 496",
    ),
    needs=("nodeSelector",),
)
def gpu_node_without_gpu_request(pod: Pod, context: Context) -> Iterator[Problem]:
    """Pods on GPU nodes without a GPU."""
    run = context.run
    if run is None or run.kind in RUNTIMES or not has_all_pods(run) or wants_gpu(pod):
        return
    if not (run.is_job or run.kind in ("Pod", "Job")):
        return
    at = _gpu_nodes(pod)
    if at is None or items(pod.tree, "resourceClaims") or "resources" in pod.tree or mounts_devices(pod, "/dev/nvidia"):
        return
    stays_pending = GKE in mapping(pod.tree, "nodeSelector") and not items(pod.tree, "tolerations")
    container = next((one for one in pod.containers if stays_pending or _needs_gpu(one)), None)
    if container is not None and not any(map(_is_served, pod.containers)):
        yield Problem(
            container.at,
            f"the pods of {run.kind} {run.name} are placed on GPU nodes, but no container requests a GPU"
            + (": GKE's taint on these nodes keeps them Pending" if stays_pending else ""),
            f"add a limit such as `nvidia.com/gpu: 1` to {container.name}"
            + (", tolerate the taint" if stays_pending else "")
            + ", or remove the selector",
            related=((at, "the selector"),),
        )


def _gpu_nodes(pod: Pod) -> Place | None:
    for name, value in mapping(pod.tree, "nodeSelector").items():
        if name == "kubernetes.io/hostname":
            continue
        if str(name).startswith(LABELS) or (WORD.search(str(value)) and not WITHOUT.search(str(value))):
            return pod.at.child("nodeSelector", str(name)) if str(value).lower() != "false" else None
    return None


def _needs_gpu(container: Container) -> bool:
    return IMAGE.search(container.image or "") is not None and not starts_no_ranks(container)


def _is_served(container: Container) -> bool:
    devices = any("/" in str(name) for name in chain(container.limits, container.requests))
    return devices or container.privileged or container.setting("NVIDIA_VISIBLE_DEVICES") is not None
