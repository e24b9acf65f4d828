"""The pod joins the node's IPC namespace to get a larger /dev/shm, and so sees every segment on the node.

`hostIPC: true` gives the containers the node's `/dev/shm` and its System V segments and semaphores. Every other pod
with `hostIPC`, and every root process of the node, can read and write them. Files of killed runs stay, and nothing in
there counts against a memory limit. The Pod Security levels `baseline` and above reject the pod.

Remove `hostIPC` and mount an `emptyDir` with `medium: Memory` and a `sizeLimit` at `/dev/shm`. Only MPS clients, whose
server runs on the node, need `hostIPC`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.document.document import Edit, Remove
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Role


@rule(
    code="SH010",
    severity="info",
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
    """Report the node's IPC namespace in a training pod."""
    containers = shared_memory.accelerated_containers(role)
    if not containers or not shared_memory.host_ipc(role.pod) or _serves_mps(role):
        return
    at = role.pod.at.child("hostIPC")
    edits: list[Edit] = [Remove(at)]
    for container in containers:
        if shared_memory.shm_mount(container) is None:
            edits += shared_memory.mount_edits(role.pod, container)
    yield Problem(
        at,
        f"pods of {role.name} use their node's IPC namespace and see all of its shared memory",
        "remove hostIPC and mount an emptyDir with `medium: Memory` at /dev/shm",
        tuple(edits),
    )


def _serves_mps(role: Role) -> bool:
    return any(setting.name.startswith("CUDA_MPS_") for one in role.pod.containers for setting in one.settings)
