"""A job and a machine to what is started there. Nothing is looked at here, and nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from validator.local import environment
from validator.local.job import Job
from validator.local.machine import Machine
from validator.local.node import Builder, Node, interpreter
from validator.local.paths import Folders
from validator.local.volumes import Volume


class Contents(NamedTuple):
    """A folder that is not empty on the cluster: `what` is in it, and at which `path` the pods have it."""

    folder: Path
    path: str
    what: str


class Plan(NamedTuple):
    """All nodes, and what they need.

    `modules` are those that the interpreter must find; `script` and `program` are files that must be there, unless
    None. `contents` are folders that the program may find empty, `data` is one that it may not.
    """

    nodes: tuple[Node, ...]
    modules: tuple[str, ...]
    script: str | None
    program: str | None
    contents: tuple[Contents, ...]
    data: Contents | None
    grace_seconds: int


def make(job: Job, machine: Machine, directory: Path) -> Plan:
    """The plan for a job whose volumes are folders in `directory`. Raises `RefusedError`."""
    visible = environment.devices(job, machine)
    mounts = [{volume.path: _folder(volume, directory, index) for volume in job.volumes} for index in range(job.nodes)]
    first = Folders(mounts[0])
    by_launcher = job.launcher != "command"
    data = job.data
    return Plan(
        nodes=tuple(Builder(job, machine, index, mounts[index]).node(visible[index]) for index in range(job.nodes)),
        modules=_modules(job) if by_launcher else (),
        script=first.path(job.program[0]) if by_launcher and job.program[0] != "-m" else None,
        program=None if by_launcher else interpreter(job.command[0], machine),
        contents=tuple(Contents(mounts[0][one.path], one.path, one.holds) for one in job.volumes if one.holds),
        data=Contents(Path(first.path(data.path)), data.path, data.source) if data is not None else None,
        grace_seconds=job.grace_seconds,
    )


def _folder(volume: Volume, directory: Path, index: int) -> Path:
    """Where a volume is: at the path that the pods have, below the directory."""
    return (directory / f"node-{index}" if volume.is_own else directory) / volume.path.lstrip("/")


def _modules(job: Job) -> tuple[str, ...]:
    launcher = (job.launcher,) if job.launcher in ("accelerate", "deepspeed") else ()
    program = (job.program[1].partition(".")[0],) if job.program[0] == "-m" else ()
    return ("torch", *launcher, *program)
