"""A container is privileged, although a device plugin provides its RDMA device.

A privileged container has every device of the node and every capability. A mistake in a training script can then damage
the node, and Pod Security Standards from level `baseline` reject the pod. The RDMA device plugin mounts the device
files, and `IPC_LOCK` lets the process register memory with the device; NCCL needs no more. A privileged container also
bypasses the quantity that it requested: it sees the network adapters of all other pods.

Remove `privileged` and add the capability `IPC_LOCK`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import rdma_resources
from trainyard.document.document import Append, Edit, SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container


@rule(
    code="RD004",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=(
        "policy: the device plugin and IPC_LOCK are enough",
        "Mellanox/k8s-rdma-shared-dev-plugin example/test-hca-pod.yaml: a pod with IPC_LOCK alone",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/: baseline forbids privileged containers",
    ),
    fix="unsafe",
    needs=("privileged",),
)
def privileged_for_rdma(container: Container) -> Iterator[Problem]:
    """A privileged container with an RDMA device."""
    devices = rdma_resources(container)
    if not devices or not container.privileged:
        return
    security = container.at.child("securityContext")
    edits: list[Edit] = [SetValue(security.child("privileged"), False)]
    if not {"IPC_LOCK", "ALL"} & {*container.capabilities}:
        edits.append(Append(security.child("capabilities", "add"), "IPC_LOCK"))
    yield Problem(
        security.child("privileged"),
        f"container `{container.name}` is privileged, but `{devices[0]}` needs only the capability IPC_LOCK",
        "remove `privileged` and add the capability IPC_LOCK",
        tuple(edits),
    )
