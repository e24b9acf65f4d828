"""A container with an RDMA device may not lock memory, so registering buffers with the device fails.

An RDMA device reads and writes buffers that must not move: they are registered and locked. Containers inherit the lock
limit of their runtime, often 64 KiB or 8 MiB, and only a process with `IPC_LOCK` may pass it. NCCL then ends with
`Call to ibv_reg_mr failed` or `Call to ibv_create_qp failed`.

Runtimes that were started without a lock limit do not need the capability, which is why this is a warning. Privileged
containers have it, examples for EFA do without it, and in a user namespace (`hostUsers: false`) it has no effect:
these are left alone.

Add `IPC_LOCK` to the capabilities of the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.known import pods_are_whole
from validator.facts.devices import rdma_resources
from validator.facts.extended_resources import quantity_at
from validator.model import Container
from validator.rule import Append, Context, Problem, rule

ENOUGH = {"IPC_LOCK", "CAP_IPC_LOCK", "ALL"}
EFA = "vpc.amazonaws.com/efa"


@rule(
    code="RD001",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/troubleshooting/networking_troubleshooting.rst: memlock",
        "Mellanox/k8s-rdma-shared-dev-plugin example/test-hca-pod.yaml: capabilities add IPC_LOCK",
    ),
    fix="safe",
)
def rdma_without_ipc_lock(container: Container, context: Context) -> Iterator[Problem]:
    """An RDMA device without the right to lock memory."""
    devices = [name for name in rdma_resources(container) if name != EFA]
    if not devices or container.privileged or not pods_are_whole(context.run) or ENOUGH & {*container.capabilities}:
        return
    if context.pod is not None and context.pod.tree.get("hostUsers") is False:
        return
    field = "limits" if devices[0] in container.limits else "requests"
    yield Problem(
        quantity_at(context.run, context.role, container, field, devices[0]),
        f"container {container.name} uses {devices[0]} without IPC_LOCK: it may not register memory with the device",
        "add `IPC_LOCK` to securityContext.capabilities.add",
        (Append(container.at.child("securityContext", "capabilities", "add"), "IPC_LOCK"),),
    )
