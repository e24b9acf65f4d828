"""The workers of an MPI job install their ssh server when they start.

Each start downloads packages from the mirror of the distribution. Without a way out of the cluster, or when a mirror
does not answer, the installation fails and `sshd` never runs. Until then the launcher cannot connect: it fails and
counts against `backoffLimit`, with the GPUs of all workers held.

Install the server when the image is built, or use an image with it, such as those on `mpioperator/base`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

PACKAGERS = ("apt-get", "apt", "yum", "dnf", "apk", "microdnf")


@rule(
    code="SC011",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/mpi-operator v0.8.2 build/base: the image has openssh-server",
        "github.com/NVIDIA/cluster-readiness-engine issue 319",
    ),
    needs=("openssh-server",),
)
def worker_installs_sshd(role: Role, context: Context) -> Iterator[Problem]:
    """Workers that install what the launcher waits for."""
    run, container = context.run, role.container
    if run is None or run.kind != "MPIJob" or role.name != "Worker" or container is None:
        return
    for command in container.commands:
        if command.program in PACKAGERS and "install" in command.words and "openssh-server" in command.words:
            at = command.word_at[command.words.index("openssh-server")]
            message = "the workers install sshd at each start: without a package mirror the launcher never connects"
            yield Problem(at, message, "install openssh-server when the image is built")
            return
