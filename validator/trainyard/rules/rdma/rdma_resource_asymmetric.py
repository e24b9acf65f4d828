"""Some roles of a run ask for an RDMA device and others do not, so their NCCL transports do not fit together.

NCCL picks its network in each process: with an RDMA device the InfiniBand transport, without one TCP sockets. A
process of one kind cannot connect to one of the other: the listener ends with `wrong socket type`, and the run with
`ncclSystemError`. Only where every path between the roles happens to use sockets does the run go on, many times
slower.

Every replica type has its own pod template: write the device in each role that trains. The roles of a JobSet may be
different programs and are left alone. Pods in the host network, privileged containers, and pods that mount
`/dev/infiniband` have devices without asking.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.facts.devices import any_rdma, rdma_resources
from validator.fields import text
from validator.model import Role, Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Problem, rule

FOLDERS = ("/dev", "/dev/infiniband")


@rule(
    code="RD006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: socketFinalizeAccept refuses the other transport's socket type",
        "NVIDIA/nccl v2.30.7-1 src/init.cc: IGNORE_NET_MISMATCH is on by default, so nothing stops it before",
    ),
)
def rdma_resource_asymmetric(run: Run) -> Iterator[Problem]:
    """A role without the RDMA device that others have."""
    if run.kind not in REPLICA_FIELDS or not any(any_rdma(role.pod.containers) for role in run.training_roles):
        return
    roles = [role for role in run.training_roles if shared_memory.accelerated(role)]
    having = next((role for role in roles if any_rdma(role.pod.containers)), None)
    if having is None:
        return
    device = next(name for container in having.pod.containers for name in rdma_resources(container))
    for role in roles:
        container = shared_memory.accelerated(role)[0]
        if any_rdma(role.pod.containers) or _has_devices(role):
            continue
        yield Problem(
            container.at.child("resources", "limits").key(),
            f"pods of {role.name} ask for no RDMA device, those of {having.name} for {device}",
            f"write `{device}` under limits in {role.name} too",
        )


def _has_devices(role: Role) -> bool:
    """Whether the pods may have devices that no resource asks for."""
    mounted = any(text(volume.body, "path").rstrip("/") in FOLDERS for volume in role.pod.volumes)
    claimed = "resourceClaims" in role.pod.tree
    return role.pod.host_network or mounted or claimed or any(one.privileged for one in role.pod.containers)
