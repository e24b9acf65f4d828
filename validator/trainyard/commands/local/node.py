"""One pod of a run as a process of this machine: its command, its variables and its files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trainyard.commands.local import environment, ports
from trainyard.commands.local.image import Image
from trainyard.commands.local.job import OF_THE_USER, Job
from trainyard.commands.local.machine import Machine
from trainyard.commands.local.paths import Folders
from trainyard.commands.local.view import View
from trainyard.facts.programs.launchers import ACCELERATE_MODULE, TORCHRUN_MODULES

HOST = "127.0.0.1"
# Rendezvous options are set here, whatever the values say.
_MEETING = re.compile(
    r"--(nnodes|nproc-per-node|node-rank|rdzv-(backend|endpoint|id)|master-(addr|port)|local-addr|standalone)"
)
_PYTHON = re.compile(r"python(3(\.\d+)?)?")


class Node(NamedTuple):
    """The process for a pod: a command, and the variables that are added to the inherited ones.

    `folders` must exist when it starts, and `files` with their texts. `is_shown` is false if its output is not printed.
    `container` is the name of its container, empty without one.
    """

    name: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    folders: tuple[Path, ...]
    files: dict[Path, str]
    is_shown: bool = True
    container: str = ""


class Builder:
    """Builds the node with this number of a job. `mounts` are its folders by their paths in the pod.

    In a container of `image`, the folders have these paths as well.
    """

    def __init__(
        self, job: Job, machine: Machine, index: int, mounts: dict[str, Path], view: View, image: Image | None = None
    ) -> None:
        self._job, self._machine, self._index, self._view, self._image = job, machine, index, view, image
        self._mounts, self._folders = mounts, Folders({} if image else mounts)

    def node(self, visible: tuple[str, ...]) -> Node:
        """Returns the node, which has these accelerators."""
        launchers = {"command": self._command, "accelerate": self._accelerate}
        launcher = launchers.get(self._job.launcher, self._torchrun)()
        node = Node(
            name=f"node-{self._index}",
            argv=(*launcher, *self._words(self._job.program)),
            environment=self._environment(visible),
            folders=tuple(self._mounts.values()),
            files=dict(self._files()),
            is_shown=self._view.node in (None, self._index),
        )
        return node if self._image is None else self._contained(node, self._image, has_gpus=bool(visible))

    def _contained(self, node: Node, image: Image, *, has_gpus: bool) -> Node:
        """Returns the node as a container. The port makes its name unique on this machine."""
        name = f"{self._job.release}-{node.name}-{self._machine.port}"
        logs = self._view.logs
        mounts = self._mounts if logs is None else {**self._mounts, str(logs): logs}
        exported = [name for name in self._job.secrets if name in self._machine.environment]
        variables = {**OF_THE_USER, **node.environment}
        argv = image.command(name, node.argv, variables, exported, mounts, has_gpus=has_gpus)
        return node._replace(argv=argv, environment={}, folders=tuple(mounts.values()), container=name)

    def _torchrun(self) -> tuple[str, ...]:
        job = self._job
        if self._view.is_debugger:
            return (self._machine.python,)
        restarts = (f"--max-restarts={job.restarts}",) if job.restarts else ()
        return (
            *(self._machine.python, "-m", TORCHRUN_MODULES[0]),
            *self._words(tuple(_without_rendezvous(job.options))),
            *(f"--nnodes={job.nodes}", f"--nproc-per-node={job.processes}"),
            *("--rdzv-backend=c10d", f"--rdzv-endpoint={HOST}:{self._machine.port}", f"--rdzv-id={job.release}"),
            *(f"--local-addr={self._address()}", *restarts),
            *self._view.torchrun_options(self._index),
        )

    def _address(self) -> str:
        """Returns the address of the node. torchrun tells nodes apart by it and the process ID, 1 in a container."""
        return HOST if self._image is None else f"127.0.{self._index // 250}.{self._index % 250 + 1}"

    def _accelerate(self) -> tuple[str, ...]:
        return (
            *(self._machine.python, "-m", ACCELERATE_MODULE),
            self._folders.word("--config_file=/etc/trainyard/accelerate.json"),
            *(f"--main_process_ip={HOST}", f"--main_process_port={self._machine.port}"),
            *(f"--machine_rank={self._index}", *self._words(self._job.options)),
        )

    def _command(self) -> tuple[str, ...]:
        first, *others = self._job.command
        return (interpreter(first, self._machine), *self._words(tuple(others)))

    def _words(self, words: tuple[str, ...]) -> tuple[str, ...]:
        port = self._job.metrics_port
        moved = words if port is None else ports.in_words(words, port, port + self._index)
        return tuple(map(self._folders.word, moved))

    def _environment(self, visible: tuple[str, ...]) -> dict[str, str]:
        own = {name: self._folders.path(value) for name, value in environment.program_variables(self._job).items()}
        # A container does not inherit those of the shell.
        around = self._machine._replace(environment={}) if self._image else self._machine
        variables = {**environment.default_variables(around), **own, **self._rank()}
        if self._view.logs is not None:
            variables["TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"] = "[rank${rank}] "
        if self._machine.gpus:
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(visible)
        if self._job.launcher == "accelerate" and not visible:
            variables["ACCELERATE_USE_CPU"] = "true"
        return variables

    def _rank(self) -> dict[str, str]:
        """Returns the variables that the operator sets for a program without a launcher: one process in each pod."""
        if self._view.is_debugger and self._job.launcher not in ("command", "accelerate"):
            local = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        elif self._job.launcher == "command":
            local = {}
        else:
            return {}
        processes = self._job.processes if isinstance(self._job.processes, int) else 1
        return {
            **local,
            "MASTER_ADDR": HOST,
            "MASTER_PORT": str(self._machine.port),
            "WORLD_SIZE": str(self._job.nodes * processes),
            "RANK": str(self._index),
        }

    def _files(self) -> Iterator[tuple[Path, str]]:
        """Yields the configurations that the release brings, with the folders of this node in them."""
        port = self._job.metrics_port
        for volume in self._job.volumes:
            for name, text in volume.files.items():
                fields = self._folders.tree(json.loads(text))
                moved = fields if port is None else ports.in_fields(fields, port, port + self._index)
                yield self._mounts[volume.path] / name, json.dumps(moved, indent=2) + "\n"


def interpreter(program: str, machine: Machine) -> str:
    """Returns the program to start for a name: for a Python, the machine's interpreter."""
    return machine.python if _PYTHON.fullmatch(program) else program


def _without_rendezvous(options: tuple[str, ...]) -> Iterator[str]:
    """Yields torchrun's options without those of the rendezvous and their values."""
    words = iter(options)
    for word in words:
        name, equals, _ = word.replace("_", "-").partition("=")
        if not _MEETING.fullmatch(name):
            yield word
        elif not equals and name != "--standalone":
            next(words, None)
