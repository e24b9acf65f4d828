"""A container is privileged although a device plugin gives it its RDMA device.

A privileged container has every device of the node and every capability: a mistake in a training script can then harm
the node, and Pod Security's level `baseline` and above refuse the pod. The RDMA device plugin mounts what belongs to
the device, and `IPC_LOCK` lets the process register memory with it; NCCL needs no more. With a privileged container
the quantity that was asked for no longer binds either: it sees the network cards of all others.

Leave `privileged` out and add the capability `IPC_LOCK`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.devices import rdma_resources
from validator.model import Container
from validator.rule import Append, Edit, Problem, SetValue, rule


@rule(
    code="RD004",
    severity="warning",
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
    """More rights than an RDMA device needs."""
    devices = rdma_resources(container)
    if not devices or not container.privileged:
        return
    security = container.at.child("securityContext")
    edits: list[Edit] = [SetValue(security.child("privileged"), False)]
    if not {"IPC_LOCK", "ALL"} & {*container.capabilities}:
        edits.append(Append(security.child("capabilities", "add"), "IPC_LOCK"))
    yield Problem(
        security.child("privileged"),
        f"container {container.name} is privileged, which {devices[0]} does not need",
        "leave `privileged` out and add the capability IPC_LOCK",
        tuple(edits),
    )
