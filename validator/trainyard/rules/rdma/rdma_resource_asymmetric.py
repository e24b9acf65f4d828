"""Some roles of a run request an RDMA device and others do not, so their NCCL transports differ.

NCCL chooses its network in each process: the InfiniBand transport with an RDMA device, TCP sockets without one. A
process of one kind cannot connect to one of the other: the listener fails with `wrong socket type`, and the run with
`ncclSystemError`. Only if every path between the roles happens to use sockets does the run continue, many times slower.

Every replica type has its own pod template: write the device in each role that trains. The rule ignores the roles of a
JobSet, which may be different programs. It also ignores pods with host network, privileged containers, and pods that
mount `/dev/infiniband`, because they have devices without a request.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import runs_one_program
from trainyard.analysis.resources import shared_memory
from trainyard.analysis.resources.devices import any_rdma, rdma_resources
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import RDMA
from trainyard.model.run import Role, Run

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
    needs=RDMA,
)
def rdma_resource_asymmetric(run: Run) -> Iterator[Problem]:
    """A role without the RDMA device that other roles have."""
    if not runs_one_program(run) or not any(any_rdma(role.pod.containers) for role in run.training_roles):
        return
    roles = [role for role in run.training_roles if shared_memory.accelerated_containers(role)]
    having = next((role for role in roles if any_rdma(role.pod.containers)), None)
    if having is None:
        return
    device = next(name for container in having.pod.containers for name in rdma_resources(container))
    for role in roles:
        container = shared_memory.accelerated_containers(role)[0]
        if any_rdma(role.pod.containers) or _has_devices(role):
            continue
        yield Problem(
            container.at.child("resources", "limits").key(),
            f"pods of {role.name} request no RDMA device, but those of {having.name} request {device}",
            f"write `{device}` under limits in {role.name} too",
        )


def _has_devices(role: Role) -> bool:
    """Returns true if the pods may have devices without a request."""
    mounted = any(text(volume.body, "path").rstrip("/") in FOLDERS for volume in role.pod.volumes)
    claimed = "resourceClaims" in role.pod.tree
    return role.pod.host_network or mounted or claimed or any(one.privileged for one in role.pod.containers)
