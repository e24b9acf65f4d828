"""NCCL requires multi-node NVLink, but the pod claims no IMEX channel, so NCCL's initialization fails.

`NCCL_MNNVL_ENABLE=1` makes NCCL's initialization fail if multi-node NVLink is not available. Multi-node NVLink needs an
IMEX domain over the nodes of the rack. In Kubernetes, NVIDIA's DRA driver creates the domain for a ComputeDomain and
gives the pods a channel through a resource claim. A pod without such a claim sees no channel, unless the node is set up
by hand and the channel's device is provided by a host path or a privileged container; the rule ignores such pods.

Create a ComputeDomain and name its claim template under `resourceClaims` of the pod and `resources.claims` of the
container; or write `NCCL_MNNVL_ENABLE=2`, with which NCCL uses NVLink if it is available.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.pods.mounts import host_paths
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod, Setting


@rule(
    code="TP009",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_MNNVL_ENABLE",
        "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/dra-cds.html: ComputeDomains",
    ),
    needs=("NCCL_MNNVL_ENABLE",),
)
def mnnvl_without_imex_claim(setting: Setting, context: Context) -> Iterator[Problem]:
    """Multi-node NVLink without an IMEX channel."""
    if setting.name != "NCCL_MNNVL_ENABLE" or setting.value != "1" or context.run is None:
        return
    # An MPI launcher sets the variable for its workers.
    if not has_all_pods(context.run) or any(_has_channel(role.pod) for role in context.run.roles):
        return
    yield Problem(
        setting.at,
        "NCCL_MNNVL_ENABLE=1 needs an IMEX channel, but the pod claims none: NCCL's initialization fails",
        "claim a channel of a ComputeDomain, or write 2",
    )


def _has_channel(pod: Pod) -> bool:
    if items(pod.tree, "resourceClaims") or any(container.privileged for container in pod.containers):
        return True
    return any(path.rstrip("/") == "/dev" or "imex" in path for path in host_paths(pod))
