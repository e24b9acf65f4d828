"""A container looks for the pipes of MPS in another folder of the node than the server has, so it finds no server.

A client of MPS reaches the control daemon through files in `CUDA_MPS_PIPE_DIRECTORY`. A server in a pod shares that
folder as a `hostPath` volume, and each client mounts the same folder of the node.

The rule compares clients with the servers of the same files, which run `nvidia-cuda-mps-control`.

Write the folder of the server in the volume of the client.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod, Project, Volume

_NAME, _SERVER = "CUDA_MPS_PIPE_DIRECTORY", "nvidia-cuda-mps-control"


class Pipes(NamedTuple):
    """The volume with the pipes of a container, and the folder of the node that it is."""

    volume: Volume
    folder: str
    serves: bool


@rule(
    code="GO086",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://docs.nvidia.com/deploy/mps/appendix-tools-and-interface-reference.html: CUDA_MPS_PIPE_DIRECTORY",
        "github.com/kai-scheduler/KAI-Scheduler pull request 158",
    ),
    needs=(_NAME,),
)
def mps_pipes_elsewhere(project: Project) -> Iterator[Problem]:
    """Report clients whose folder no server has."""
    pipes = [
        found
        for run in project.runs
        for role in run.roles
        for container in role.pod.containers
        for found in _pipes(container, role.pod)
    ]
    folders = {one.folder for one in pipes if one.serves}
    for one in pipes if folders else ():
        if one.folder not in folders:
            server = min(folders)
            yield Problem(
                one.volume.at.child("hostPath", "path"),
                f"the server of MPS has its pipes in {server} of the node, but this path is {one.folder}",
                f"write {server}",
            )


def _pipes(container: Container, pod: Pod) -> Iterator[Pipes]:
    setting = container.setting(_NAME)
    serves = any(_SERVER in word for command in container.commands for word in command.words)
    at = (setting.value or "") if setting is not None else ""
    volume = pod.mounted(container, at) if at else None
    folder = text(volume.body, "path").rstrip("/") if volume is not None and volume.kind == "hostPath" else ""
    if volume is not None and folder:
        yield Pipes(volume, folder, serves)
