"""The launcher sets a variable for the ranks, but mpirun does not pass it to those of other pods.

Open MPI starts ranks through ssh and passes its own variables only. A variable of the launcher's `env` reaches ranks of
the workers with `-x NAME` alone. The ranks run with their defaults, or those on the launcher with other values than the
rest.

In an MPIJob of `kubeflow.org/v2beta1`, sshd starts the ranks of a worker, and gives each session a fresh environment:
the variables of the worker's own `env` do not reach them either, nor does `LD_LIBRARY_PATH`. The operator also
starts sshd in a worker without a command. (Version v1 starts them with `kubectl exec`, which
keeps the environment.) A script before sshd may write them to `/etc/environment`, so the rule leaves out workers with
another command than sshd.

The rule checks variables of an MPIJob that only ranks read (`NCCL_`, `HF_`, `CUDA_`, `TORCH_` and so on). It ignores
Intel MPI and MPICH, which pass everything, variables that the command uses, and those that the workers set too. It also
checks those before the command, as in `NCCL_DEBUG=INFO mpirun`.

Add `-x NAME` to mpirun, or `-x NAME=VALUE` if the launcher does not have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command, Container, Role, Run, Setting

LAUNCHER = "Launcher"
OF_RANKS = ("NCCL_", "HF_", "TORCH_", "CUDA_", "OMP_", "FI_", "WANDB_", "HUGGING", "TOKENIZERS_", "HOROVOD_", "TF_")
# Variables that tell a session where libraries and modules are.
OF_SESSIONS = (*OF_RANKS, "LD_LIBRARY_PATH", "PYTHONPATH")
# Open MPI reads its parameters from variables also: this one lists variables to pass on.
LISTED = "OMPI_MCA_mca_base_env_list"


@rule(
    code="SC010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.open-mpi.org v5.0 man-openmpi/man1/mpirun.1: -x, exported environment variables",
        "kubeflow/mpi-operator v0.8.2 README.md: mpirun -x",
        "openssh-portable V_9_9 session.c: do_setup_env",
        "kubeflow/mpi-operator 012dae5 pkg/controller/mpi_job_controller.go: newWorker, /usr/sbin/sshd -De",
        "github.com/NVIDIA/nccl issue 260",
        "github.com/NVIDIA/cluster-readiness-engine pull 230, https://kasakun.xyz/posts/mpi-networking-on-kubernetes",
    ),
    needs=("MPIJob",),
)
def mpirun_variable_not_exported(role: Role, context: Context) -> Iterator[Problem]:
    """Variables of the launcher that the ranks of other pods do not get."""
    run, container = context.run, role.container
    if run is None or container is None or run.kind != "MPIJob" or not _is_open_mpi(run):
        return
    if role.name != LAUNCHER:
        yield from _of_sessions(container, run)
        return
    commands = [command for command in container.commands if command.program in MPI_LAUNCHERS]
    if len(commands) != 1 or len(container.commands) > 1 + bool(container.scripts):
        return
    exported = _exported(commands[0])
    written = " ".join((*container.command, *container.args))
    workers = [one for other in run.roles if other.name != LAUNCHER for one in other.pod.containers]
    if exported is None or not workers or container.setting(LISTED) is not None:
        return
    for setting in container.settings:
        if not _is_for_ranks(setting) or setting.name in exported:
            continue
        if setting.via != "command" and setting.name in written:
            continue
        if all(worker.setting(setting.name) is None for worker in workers):
            yield Problem(
                _name_at(setting),
                f"mpirun does not pass {setting.name} to the ranks of other pods",
                f"add `-x {setting.name}` to mpirun",
            )


def _of_sessions(container: Container, run: Run) -> Iterator[Problem]:
    """Yields the variables of a worker that the sessions of its sshd do not have."""
    launcher = run.role(LAUNCHER)
    first = launcher.container if launcher is not None else None
    words = (*container.command, *container.args)
    is_served = not words or (words[0].endswith("sshd") and not container.scripts)
    if first is None or not is_served or not run.api_version.endswith("/v2beta1"):
        return
    commands = [command for command in first.commands if command.program in MPI_LAUNCHERS]
    exported = _exported(commands[0]) if len(commands) == 1 else None
    written = " ".join((*first.command, *first.args))
    for setting in container.settings if exported is not None else ():
        of_ranks = setting.name.startswith(OF_SESSIONS) and setting.via == "env" and setting.value is not None
        if of_ranks and setting.name not in written:
            yield Problem(
                _name_at(setting),
                f"sshd gives the ranks a fresh environment, so {setting.name} of the worker does not reach them",
                f"add `-x {setting.name}={setting.value}` to mpirun",
            )


def _is_open_mpi(run: Run) -> bool:
    return text(run.spec, "mpiImplementation") in ("", "OpenMPI")


def _exported(command: Command) -> set[str] | None:
    """Returns the variables that mpirun passes on, None if it cannot be told."""
    words = command.words
    if any("env_list" in word or "env-list" in word or word == "--tune" or "$" in word for word in words):
        return None
    return {after.partition("=")[0] for word, after in pairwise(words) if word == "-x"}


def _is_for_ranks(setting: Setting) -> bool:
    # A variable before the command is meant for the ranks alone.
    known = setting.value is not None and setting.name.startswith(OF_RANKS)
    return known and setting.via in ("env", "envFrom", "command")


def _name_at(setting: Setting) -> Place:
    at = setting.at
    return at._replace(path=(*at.path[:-1], "name")) if at.path[-1:] == ("value",) else at
