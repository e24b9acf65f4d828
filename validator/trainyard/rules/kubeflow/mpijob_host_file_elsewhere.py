"""The launcher of an MPIJob names a host file in `/etc/mpi` that the operator does not write.

The operator mounts a ConfigMap at `/etc/mpi` in the launcher. It holds `hostfile`, with the workers and their slots,
and `discover_hosts.sh`, which prints the workers that run; version v1 also mounts `kubexec.sh` there. mpirun ends if
its host file is missing. deepspeed only warns, and trains with the devices of the launcher, which has none.

The rule leaves out launchers with a volume of their own at this path.

Write `/etc/mpi/hostfile`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounts import mount_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role

_FOLDER = "/etc/mpi/"
_FILES = ("hostfile", "discover_hosts.sh", "kubexec.sh")


@rule(
    code="KF102",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go: configMountPath, hostfileName, "
        "discoverHostsScriptName",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/mpi/mpijob.go: configMountPath, hostfileName",
        "deepspeedai/DeepSpeed v0.19.4 deepspeed/launcher/runner.py: fetch_hostfile",
    ),
    needs=(_FOLDER,),
)
def mpijob_host_file_elsewhere(role: Role, context: Context) -> Iterator[Problem]:
    """Report paths in the operator's folder that it does not fill."""
    container, run = role.container, context.run
    is_ours = run is not None and run.kind == "MPIJob" and run.api_version.startswith("kubeflow.org/")
    if container is None or not is_ours or role.name != "Launcher":
        return
    for command in container.commands:
        for word, at in zip(command.words, command.word_at, strict=True):
            path = word.rpartition("=")[2]
            name = path.removeprefix(_FOLDER)
            if not path.startswith(_FOLDER) or not name or name in _FILES or "$" in name:
                continue
            if mount_of(container, path) is None:
                yield Problem(at, f"the operator writes no `{path}`", f"write `{_FOLDER}hostfile`")
