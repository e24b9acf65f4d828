"""The workers' ssh server listens on port 22 of the node, where the node's own already does.

In the host network a pod has no ports of its own. The workers of an MPIJob run `sshd`, by default on port 22; the
node's own `sshd` has it, so the worker's ends with `Address already in use`, or the launcher reaches the node instead
of the pod. Two workers on one node collide in the same way.

Images that are built on `mpioperator/base` listen on 2222 by their configuration and are left alone, as is a `sshd`
with `-p` or `-o Port=...`.

Give `sshd` another port and tell ssh the same (`OMPI_MCA_plm_rsh_args`), or leave the host network: RDMA devices of a
device plugin do not need it.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.model import Container, Role
from validator.rule import Context, Problem, rule

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
    """An ssh server on a port that is taken."""
    run, container = context.run, role.container
    if run is None or run.kind != "MPIJob" or not run.api_version.endswith("/v2beta1") or container is None:
        return
    if role.name == "Worker" and role.pod.host_network and _listens_on_22(container):
        yield Problem(
            role.pod.at.child("hostNetwork"),
            "sshd of the workers listens on port 22 of the node, where the node's own does",
            "start `sshd -De -p 2222` and tell ssh the port, or leave the host network",
        )


def _listens_on_22(container: Container) -> bool:
    if not container.command and not container.args:
        return BASE not in (container.image or BASE)
    servers = [command for command in container.commands if command.program == "sshd"]
    return any(not any(_names_port(word) for word in command.words[1:]) for command in servers)


def _names_port(word: str) -> bool:
    return word.startswith(("-p", "-f")) or word.lower().removeprefix("-o").startswith("port")
