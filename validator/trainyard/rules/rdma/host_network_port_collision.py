"""The workers' sshd uses port 22 of the host network, which the node's own sshd already uses.

In the host network a pod has no ports of its own. The workers of an MPIJob run `sshd`, by default on port 22. The
node's own `sshd` has that port, so the worker's fails with `Address already in use`, or the launcher connects to the
node instead of the pod. Two workers on one node collide in the same way.

The rule ignores images that are built on `mpioperator/base`, whose configuration uses port 2222, and a `sshd` with `-p`
or `-o Port=...`.

Give `sshd` another port and configure ssh to use it (`OMPI_MCA_plm_rsh_args`), or remove `hostNetwork`: RDMA devices of
a device plugin do not need it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.ssh_servers import ports, ssh_servers
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Role

BASE = "mpioperator/"


@rule(
    code="RD003",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go: newWorker starts sshd",
        "https://github.com/kubeflow/mpi-operator/pull/428",
        "https://github.com/kubeflow/mpi-operator/issues/593",
    ),
    needs=("hostNetwork",),
)
def host_network_port_collision(role: Role, context: Context) -> Iterator[Problem]:
    """An ssh server on a port that is in use."""
    run, container = context.run, role.container
    if run is None or run.kind != "MPIJob" or not run.api_version.endswith("/v2beta1") or container is None:
        return
    if role.name == "Worker" and role.pod.host_network and _listens_on_22(container):
        yield Problem(
            role.pod.at.child("hostNetwork"),
            "the workers' sshd uses port 22 of the node, which the node's own sshd already uses",
            "start `sshd -De -p 2222` and configure ssh with this port, or remove `hostNetwork`",
        )


def _listens_on_22(container: Container) -> bool:
    if not container.command and not container.args:
        return BASE not in (container.image or BASE)
    return any(
        next(ports(server), None) is None and not any(word.startswith("-f") for word in server.words)
        for server in ssh_servers(container)
    )
