"""Gloo has no interface in the host network, where NCCL needs one.

Gloo takes the address that the name of the host resolves to. In the host network this is often 127.0.0.1 or 127.0.1.1,
from `/etc/hosts` of the node, and ranks of other nodes cannot connect. `NCCL_SOCKET_IFNAME` does not apply to Gloo.

The rule applies to pods in the host network that set `NCCL_SOCKET_IFNAME` and whose arguments select the backend Gloo.

Set `GLOO_SOCKET_IFNAME` to the same interface.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role


@rule(
    code="TD025",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch torch/csrc/distributed/c10d/ProcessGroupGloo.cpp: createDefaultDevice resolves the host name",
        "github.com/aws-samples/aws-do-eks pull 69",
    ),
    needs=("NCCL_SOCKET_IFNAME",),
)
def gloo_ifname_unset(role: Role, context: Context) -> Iterator[Problem]:
    """Gloo without an interface in the host network."""
    container, run = role.container, context.run
    if run is None or container is None or not role.pod.host_network or (run.nodes or 2) < 2:
        return
    if container.setting("NCCL_SOCKET_IFNAME") is None or container.setting("GLOO_SOCKET_IFNAME") is not None:
        return
    at = _selects_gloo(container)
    if at is not None and not has_unknown_variables(container, context):
        yield Problem(
            at,
            "Gloo uses the address of the host name, which in the host network is often the loopback: "
            "GLOO_SOCKET_IFNAME is not set",
            "set GLOO_SOCKET_IFNAME to the interface of NCCL_SOCKET_IFNAME",
        )


def _selects_gloo(container: Container) -> Place | None:
    for command in container.commands:
        for option in ("--backend", "--dist-backend", "--distributed-backend"):
            found = command.option_at(option)
            if found is not None and found[0] == "gloo":
                return found[1]
    return None
