"""The container does not run as root, so the added capability IPC_LOCK has no effect.

Kubernetes adds a capability to the set that the container may have. The process of another user than root starts
without it, unless its program file carries the capability. Registering memory for RDMA then hits the limit of
`ulimit -l`, and NCCL fails with "ibv_reg_mr failed: Cannot allocate memory", or uses sockets.

The rule applies to pods that request RDMA devices.

Run as root, or raise the limit of locked memory in the container runtime (`LimitMEMLOCK=infinity`).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import rdma_resources
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="RD022",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubernetes/kubernetes issue 56374: capabilities of users other than root are not ambient",
        "man7.org capabilities(7): permitted set after execve",
        "github.com/NVIDIA/nvidia-container-toolkit issue 2037",
    ),
    needs=("IPC_LOCK",),
)
def ipc_lock_of_user(container: Container, context: Context) -> Iterator[Problem]:
    """Report a capability that another user than root does not get."""
    pod = context.pod
    if pod is None or "IPC_LOCK" not in container.capabilities or container.privileged or not rdma_resources(container):
        return
    user = _user(container.tree)
    user = _user(pod.tree) if user is None else user
    if user:
        listed = container.at.child("securityContext", "capabilities", "add")
        yield Problem(
            listed.child(container.capabilities.index("IPC_LOCK")),
            f"IPC_LOCK has no effect for user {user}: memory for RDMA is bound by the limit of locked memory",
            "run as root, or set `LimitMEMLOCK=infinity` in the service of the container runtime",
        )


def _user(tree: dict[str, object]) -> int | None:
    user = mapping(tree, "securityContext").get("runAsUser")
    return user if isinstance(user, int) else None
