"""A container image of this machine, in which nodes run as containers of Podman or Docker. It is never pulled."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from trainyard.commands.local.errors import MissingProgramError

# Options for all GPUs: Podman reads the specification of the Container Device Interface.
_GPUS = {"podman": "--device=nvidia.com/gpu=all", "docker": "--gpus=all"}
# Without the option, Podman removes none if one is gone already; the kill of the others does not wait.
_REMOVE = {"podman": ("--ignore", "--time=0"), "docker": ()}


class Image(NamedTuple):
    """An image, and the engine that has it."""

    engine: str
    name: str

    def command(
        self,
        container: str,
        program: tuple[str, ...],
        environment: Mapping[str, str],
        exported: Iterable[str],
        mounts: Mapping[str, Path],
        *,
        has_gpus: bool,
    ) -> tuple[str, ...]:
        """Returns the command that runs a program in a container on the network of this machine.

        `exported` are variables that the container gets from the shell, and `mounts` are folders by their paths in it.
        The files that the program writes belong to the user of this process.
        """
        first, *others = program
        return (
            *(self.engine, "run", "--rm", f"--name={container}", "--pull=never", "--network=host", "--ipc=host"),
            # Otherwise SELinux keeps the container from the folders.
            *("--security-opt=label=disable", f"--user={os.getuid()}:{os.getgid()}"),
            # Without root, Podman maps user IDs.
            *(("--userns=keep-id",) if self.engine == "podman" and os.getuid() else ()),
            *((_GPUS[self.engine],) if has_gpus else ()),
            *(f"--volume={folder}:{path}" for path, folder in mounts.items()),
            *(f"--env={name}" for name in exported),
            *(f"--env={name}={value}" for name, value in environment.items()),
            *(f"--entrypoint={first}", self.name, *others),
        )

    def remove(self, containers: Iterable[str]) -> None:
        """Kills and removes the containers that are left: they are no children of this process."""
        command = [self.engine, "rm", "--force", *_REMOVE[self.engine], *containers]
        subprocess.run(command, capture_output=True, check=False)


def find_image(name: str) -> Image:
    """Returns the image of this name. Raises `MissingProgramError` if no engine has it."""
    engines = [engine for engine in _GPUS if shutil.which(engine)]
    if not engines:
        raise MissingProgramError(
            "--image needs podman or docker, and this machine has neither: install one, or leave out --image to run "
            "with a Python of this machine"
        )
    for engine in engines:
        inspected = [engine, "image", "inspect", "--format={{.Id}}", name]
        if not subprocess.run(inspected, capture_output=True, check=False).returncode:
            return Image(engine, name)
    raise MissingProgramError(
        f"--image: {name} is not in the store of {' or '.join(engines)} here: `{engines[0]} pull {name}` fetches it"
    )
