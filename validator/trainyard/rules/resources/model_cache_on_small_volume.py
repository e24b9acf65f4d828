"""Downloaded models go to a volume with a small size limit, and a pod that exceeds the limit is evicted without end.

Hugging Face libraries keep models and data sets in `HF_HUB_CACHE`, else below `HF_HOME`, `XDG_CACHE_HOME` or `HOME`, in
this order. On an `emptyDir` with a `sizeLimit`, the kubelet evicts the pod once the volume holds more. The new pod
starts with an empty volume, downloads the same model, and is evicted too. The training operator counts no eviction as a
restart, so `backoffLimit` never ends the run: it stays `Running`, and its GPUs are idle. The smallest accepted limit is
20Gi unless configured otherwise; the weights of a model with 8 billion parameters in 16 bits take 16 GB.

The rule skips pods with `HF_HUB_OFFLINE`, and volumes without a limit: those fill the node's disk, which is watched. It
also skips runs of other operators, where an evicted pod counts as a failure.

Write a larger `sizeLimit` or none, or set `HF_HOME` to a folder of a larger volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.facts.programs.hugging_face import VARIABLE_TRUE
from trainyard.model.run import Container, Role
from trainyard.startup import NamedTuple

GIB = 2**30
# The folder of the hub's cache below each variable, by precedence.
CACHES = {"HF_HUB_CACHE": "", "HF_HOME": "/hub", "XDG_CACHE_HOME": "/huggingface", "HOME": "/.cache/huggingface"}
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


class Floor(NamedTuple):
    """`min_gib`: the smallest accepted size limit, in GiB."""

    min_gib: float = 20.0


@rule(
    code="RS010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables",
        "huggingface/huggingface_hub 03333b68 src/huggingface_hub/constants.py: HF_HUB_CACHE, HF_HUB_OFFLINE",
        "kubernetes v1.34.4 pkg/kubelet/eviction/eviction_manager.go: emptyDirLimitEviction",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/job.go: PastBackoffLimit",
    ),
    parameters=Floor(),
    needs=("size",),
)
def model_cache_on_small_volume(role: Role, context: Context) -> Iterator[Problem]:
    """Report a cache of models on an emptyDir with a small size limit."""
    if context.run is None or context.run.kind not in REPLICA_FIELDS or is_mpi_operator(context.run):
        return
    floor = context.parameters.min_gib
    for container in shared_memory.accelerated_containers(role):
        found = _cache(container)
        mount = mount_of(container, found[1]) if found is not None else None
        volume = role.pod.volume(mount.volume) if mount is not None else None
        limit = shared_memory.size_limit(volume) if volume is not None and volume.kind == "emptyDir" else None
        if found is None or volume is None or limit is None or limit >= floor * GIB:
            continue
        yield Problem(
            volume.at.child("emptyDir", "sizeLimit"),
            f"{found[0]} puts downloaded models on volume {volume.name} of {volume.body['sizeLimit']}: a pod that "
            "exceeds it is evicted, and so is its successor",
            f"write at least {floor:g}Gi or no limit, or set HF_HOME to a larger volume",
        )


def _cache(container: Container) -> tuple[str, str] | None:
    """Returns the variable that decides about the cache, and the cache's folder; None if it is unknown or unused."""
    for name in OFFLINE:
        setting = container.setting(name)
        if setting is not None and (setting.value or "").lower() in VARIABLE_TRUE:
            return None
    for name, below in CACHES.items():
        setting = container.setting(name)
        if setting is not None:
            return (name, setting.value + below) if setting.value else None
    return None
