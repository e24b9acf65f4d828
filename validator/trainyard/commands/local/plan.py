"""Plans the processes of a job on a machine. Planning reads no files and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from trainyard.commands.local import environment
from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.image import Image
from trainyard.commands.local.job import Job
from trainyard.commands.local.machine import Machine
from trainyard.commands.local.memory import check_memory
from trainyard.commands.local.node import Builder, Node, interpreter
from trainyard.commands.local.paths import Folders
from trainyard.commands.local.view import View
from trainyard.commands.local.volumes import LocalVolume

# Each node is a torchrun, and each process imports PyTorch. Systems that do not tell their memory have no more.
_MOST = 1024


class Contents(NamedTuple):
    """A folder that is not empty on the cluster: `what` is in it, and `path` is its path in the pods."""

    folder: Path
    path: str
    what: str


class Plan(NamedTuple):
    """All nodes and their requirements.

    `modules` must be found by the interpreter; `script` and `program` are files that must exist, unless None. The
    program may find `contents` folders empty, but not `data`. In containers of `image`, the interpreter and the program
    are those of the image.
    """

    nodes: tuple[Node, ...]
    modules: tuple[str, ...]
    script: str | None
    program: str | None
    contents: tuple[Contents, ...]
    data: Contents | None
    grace_seconds: int
    image: Image | None = None

    def kill_containers(self) -> None:
        """Kills and removes the containers of the nodes, if they have any."""
        if self.image is not None:
            self.image.remove(node.container for node in self.nodes)


def make_plan(
    job: Job, machine: Machine, directory: Path, view: View | None = None, image: Image | None = None
) -> Plan:
    """Returns the plan for a job whose volumes are folders in `directory`. Raises `RunRefusedError`."""
    _check_size(job)
    check_memory(job, machine)
    view = view or View()
    if image is not None:
        machine = machine._replace(python="python3")
    visible = environment.node_devices(job, machine)
    mounts = [{volume.path: _folder(volume, directory, index) for volume in job.volumes} for index in range(job.nodes)]
    first = Folders(mounts[0])
    by_launcher = job.launcher != "command"
    data = job.data
    return Plan(
        nodes=tuple(
            Builder(job, machine, index, mounts[index], view, image).node(visible[index]) for index in range(job.nodes)
        ),
        modules=_modules(job) if by_launcher and image is None else (),
        script=first.path(job.program[0]) if by_launcher and image is None and job.program[0] != "-m" else None,
        program=None if by_launcher or image else interpreter(job.command[0], machine),
        contents=tuple(Contents(mounts[0][one.path], one.path, one.holds) for one in job.volumes if one.holds),
        data=Contents(Path(first.path(data.path)), data.path, data.source) if data is not None else None,
        grace_seconds=job.grace_seconds,
        image=image,
    )


def _check_size(job: Job) -> None:
    for number, what, remedy in (
        (job.nodes, "nodes", "--nodes 2"),
        (job.processes, "processes", "--processes-per-node 1"),
    ):
        if isinstance(number, int) and number > _MOST:
            raise RunRefusedError(f"{number} {what} are more than one machine can start: add {remedy}")


def _folder(volume: LocalVolume, directory: Path, index: int) -> Path:
    """Returns the folder of a volume: the path in the pods, below the directory."""
    return (directory / f"node-{index}" if volume.is_own else directory) / volume.path.lstrip("/")


def _modules(job: Job) -> tuple[str, ...]:
    launcher = (job.launcher,) if job.launcher in ("accelerate", "deepspeed") else ()
    program = (job.program[1].partition(".")[0],) if job.program[0] == "-m" else ()
    return ("torch", *launcher, *program)
