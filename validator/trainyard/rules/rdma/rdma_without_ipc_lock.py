"""A container with an RDMA device lacks `IPC_LOCK`, so it may fail to register memory.

An RDMA device reads and writes buffers that must not move, so they are registered and locked. Containers inherit the
lock limit of their runtime, often 64 KiB or 8 MiB, and only a process with `IPC_LOCK` may exceed it. Otherwise NCCL
fails with `Call to ibv_reg_mr failed` or `Call to ibv_create_qp failed`.

Runtimes without a lock limit do not need the capability; therefore this is a warning. The rule ignores privileged
containers, which have the capability, EFA, whose examples work without it, and user namespaces (`hostUsers: false`),
where it has no effect.

Add `IPC_LOCK` to the capabilities of the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources.devices import quantity_at, rdma_resources
from trainyard.document.document import Append
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

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
    """An RDMA device without the capability to lock memory."""
    devices = [name for name in rdma_resources(container) if name != EFA]
    if not devices or container.privileged or not has_all_pods(context.run) or ENOUGH & {*container.capabilities}:
        return
    if context.pod is not None and context.pod.tree.get("hostUsers") is False:
        return
    field = "limits" if devices[0] in container.limits else "requests"
    yield Problem(
        quantity_at(context.run, context.role, container, field, devices[0]),
        f"container {container.name} uses {devices[0]} without IPC_LOCK: registering memory with the device can fail",
        "add `IPC_LOCK` to securityContext.capabilities.add",
        (Append(container.at.child("securityContext", "capabilities", "add"), "IPC_LOCK"),),
    )
