"""The workers' sshd is told to use port 22 of the host network, which a node's own sshd or another worker uses.

In the host network all pods of a node share its ports. A second `sshd` on port 22 fails with `Address already in use`,
the worker ends, and mpirun does not reach it, or it reaches the node instead of the pod.

The rule needs the port in the command. RD003 assumes it where the command names none.

Give `sshd` another port and configure ssh to use it (`OMPI_MCA_plm_rsh_args`), or remove `hostNetwork`: RDMA devices of
a device plugin do not need it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.ssh_servers import ports, ssh_servers
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

PORT = "22"


@rule(
    code="RD019",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "openssh sshd(8): -p",
        "github.com/kubeflow/mpi-operator issue 593",
    ),
    needs=("hostNetwork",),
)
def sshd_on_port_of_node(role: Role, context: Context) -> Iterator[Problem]:
    """An ssh server on the port of the node's own."""
    if context.run is None or not role.pod.host_network or role.container is None:
        return
    if any(PORT in ports(server) for server in ssh_servers(role.container)):
        yield Problem(
            role.pod.at.child("hostNetwork"),
            "sshd uses port 22 of the host network, which the node's own sshd or another worker uses",
            "start `sshd -De -p 2222` and configure ssh with this port, or remove `hostNetwork`",
        )
