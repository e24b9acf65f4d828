"""Containers that train on accelerators, and where they differ from a fabric profile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from validator.aspects.environment import open_ended
from validator.facts.profiles import Wanted
from validator.model import Container, Role, Run, Setting
from validator.rule import Context


def accelerated(role: Role) -> Container | None:
    """The role's training container when it asks for accelerators."""
    container = role.container
    return container if role.trains and container is not None and container.gpus else None


def deviations(
    role: Role, wanted: tuple[Wanted, ...], context: Context
) -> Iterator[tuple[Container, Wanted, Setting | None]]:
    """Each variable that is not as it should be, with the setting that says otherwise, None when there is none."""
    container = accelerated(role)
    if container is None or open_ended(container, context):
        return
    for one in wanted:
        setting = _handed_on(one.name, context.run) or container.setting(one.name)
        if setting is None:
            yield container, one, None
        elif setting.value is not None and one.value is not None and setting.value != one.value:
            yield container, one, setting


def _handed_on(name: str, run: Run | None) -> Setting | None:
    """The variable as the launcher of an MPIJob gives it to the processes in the workers."""
    role = run.role("Launcher") if run is not None and run.kind == "MPIJob" else None
    launcher = role.container if role is not None else None
    setting = launcher.setting(name) if launcher is not None else None
    if launcher is None or setting is None:
        return None
    return setting if setting.via == "mpirun" or _hands_on(launcher, name) else None


def _hands_on(launcher: Container, name: str) -> bool:
    """Whether `mpirun -x NAME` passes on what is set in the launcher's own environment."""
    return any(("-x", name) in pairwise(command.words) for command in launcher.commands)
