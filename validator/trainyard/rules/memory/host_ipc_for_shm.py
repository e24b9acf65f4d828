"""The pod shares the node's IPC namespace to get a larger /dev/shm, and with it every segment on the node.

`hostIPC: true` gives the containers the node's `/dev/shm` and its System V segments and semaphores. Every pod that
does so, and every root process of the node, can read and write them; files of runs that were killed stay; and nothing
of it counts against a memory limit. Pod Security's level `baseline` and above refuse the pod.

Leave `hostIPC` out and mount an `emptyDir` with `medium: Memory` and a `sizeLimit` at `/dev/shm`. MPS clients, whose
server runs on the node, do need `hostIPC`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.model import Role
from validator.rule import Edit, Problem, Remove, rule


@rule(
    code="SH010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "policy: a volume of the pod's own serves the same end",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/: baseline forbids host namespaces",
    ),
    fix="unsafe",
    needs=("hostIPC",),
)
def host_ipc_for_shm(role: Role) -> Iterator[Problem]:
    """The node's IPC namespace in a pod that trains."""
    containers = shared_memory.accelerated(role)
    if not containers or not shared_memory.host_ipc(role.pod) or _serves_mps(role):
        return
    at = role.pod.at.child("hostIPC")
    edits: list[Edit] = [Remove(at)]
    for container in containers:
        if shared_memory.mount(container) is None:
            edits += shared_memory.mounting(role.pod, container)
    yield Problem(
        at,
        f"pods of {role.name} share all shared memory of their node",
        "leave hostIPC out and mount an emptyDir with `medium: Memory` at /dev/shm",
        tuple(edits),
    )


def _serves_mps(role: Role) -> bool:
    return any(setting.name.startswith("CUDA_MPS_") for one in role.pod.containers for setting in one.settings)
