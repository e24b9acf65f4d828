"""mpirun starts a program in a folder that the launcher has filled, and the workers have neither it nor the program.

mpirun starts the processes on each node in the folder in which it was called. A copy or a clone that the launcher makes
in its own file system exists in its pod alone. The other nodes report "No such file or directory", or start the
program of the image.

The rule applies to an MPIJob whose launcher copies or clones into a folder, changes into it, and starts a program by a
relative path there. It says nothing of a folder in a volume, or of one that the workers name.

Put the program into the image or a shared volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounts import mount_of
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command, Container, Run

# Programs that reach other pods: they may copy the folder there.
_REACH = ("ssh", "scp", "rsync", "kubectl", "pdsh", "pdcp", *MPI_LAUNCHERS)
_WDIR = ("-wdir", "--wdir", "-wd", "--wd", "--preload-files", "-preload-files", "--preload-binary", "-s")


@rule(
    code="SC037",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.open-mpi.org v5.0 man-openmpi/man1/mpirun.1: current working directory",
        "github.com/kubeflow/mpi-operator issue 58",
    ),
    needs=("MPIJob",),
)
def folder_of_launcher_alone(run: Run) -> Iterator[Problem]:
    """Report programs in a folder that only the launcher has."""
    launcher, worker = run.role("Launcher"), run.role("Worker")
    container = launcher.container if launcher is not None else None
    if run.kind != "MPIJob" or container is None or worker is None:
        return
    folder, at = "", container.at
    filled: set[str] = set()
    for command in container.commands:
        if command.program == "cd" and len(command.words) == 2:
            folder, at = command.words[1].rstrip("/"), command.word_at[1]
        elif target := _filled(command):
            filled.add(target)
        elif command.program in _REACH:
            if folder in filled and _is_relative(command) and not _is_shared(folder, container, run):
                message = f"mpirun starts its processes in `{folder}`, which the launcher fills: no worker has it"
                yield Problem(at, message, "put the program into the image or a shared volume")
            return


def _filled(command: Command) -> str:
    """Returns the folder that a command fills with files, empty if it fills none."""
    words = [word for word in command.words[1:] if not word.startswith("-")]
    is_clone = command.program == "git" and words[:1] == ["clone"] and len(words) == 3
    target = words[-1] if words and (is_clone or command.program == "cp") else ""
    return target.rstrip("/") if target.startswith("/") and "$" not in target else ""


def _is_relative(command: Command) -> bool:
    """True if mpirun starts a program, or a script, by a path relative to its folder."""
    if command.program not in MPI_LAUNCHERS or any(word.partition("=")[0] in _WDIR for word in command.words):
        return False
    return any(word.startswith("./") or (word.endswith(".py") and word[0] not in "/$-") for word in command.words)


def _is_shared(folder: str, container: Container, run: Run) -> bool:
    """True if the folder is in a volume, or if a worker names it."""
    workers = [role.pod for role in run.roles if role.name != "Launcher"]
    named = any(folder in repr(pod.tree) for pod in workers)
    return named or mount_of(container, folder) is not None
