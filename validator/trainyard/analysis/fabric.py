"""Containers that train on accelerators, and their deviations from a fabric profile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.pods.placement import INSTANCE_TYPES
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context
from trainyard.facts.profiles import Wanted
from trainyard.model.run import Container, Role, Run, Setting


def accelerated_container(role: Role) -> Container | None:
    """Returns the role's training container if it requests accelerators."""
    container = role.container
    return container if role.trains and container is not None and container.gpus else None


# The beginning of a node's instance type or accelerator, and the fabric of such machines.
_MACHINES = {
    "BM.GPU": "oke-roce",
    "p4d.": "eks-efa",
    "p5": "eks-efa",
    "p6-": "eks-efa",
    "nvidia-h100-mega-80gb": "gke-tcpxo",
    "nvidia-h200-141gb": "gke-gib",
    "nvidia-b200": "gke-gib",
}
# Registries of providers, by the end of their host. Source: docs.oracle.com, Container Registry: region keys.
_REGISTRIES = {".ocir.io": "oke-roce"}
_MACHINE_LABELS = (*INSTANCE_TYPES, "cloud.google.com/gke-accelerator")


def likely_profile(run: Run | None) -> str | None:
    """Returns the fabric of the machines that a run names by node selectors and registries, None if it names none.

    It may keep a rule silent. A finding about a fabric needs one that the user names.
    """
    for role in run.roles if run is not None else ():
        selector = mapping(role.pod.tree, "nodeSelector")
        machines = [str(selector[label]).removeprefix("ml.") for label in _MACHINE_LABELS if label in selector]
        for machine in machines:
            for start, profile in _MACHINES.items():
                if machine.startswith(start):
                    return profile
    images = (container.image for container in (run.containers if run is not None else ()))
    hosts = [image.partition("/")[0] for image in images if image]
    return next((_REGISTRIES[end] for end in _REGISTRIES if any(host.endswith(end) for host in hosts)), None)


def deviations(
    role: Role, wanted: tuple[Wanted, ...], context: Context
) -> Iterator[tuple[Container, Wanted, Setting | None]]:
    """Yields each variable that deviates from the profile, with its setting, or None if it is not set."""
    container = accelerated_container(role)
    if container is None or has_unknown_variables(container, context):
        return
    for one in wanted:
        setting = _passed_on(one.name, context.run) or container.setting(one.name)
        if setting is None:
            yield container, one, None
        elif setting.value is not None and one.value is not None and setting.value != one.value:
            yield container, one, setting


def _passed_on(name: str, run: Run | None) -> Setting | None:
    """Returns the setting that mpirun passes on to the processes in the workers."""
    launcher = _mpi_launcher(run) if run is not None else None
    setting = launcher.setting(name) if launcher is not None else None
    if launcher is None or setting is None:
        return None
    return setting if setting.via == "mpirun" or _passes_on(launcher, name) else None


def _mpi_launcher(run: Run) -> Container | None:
    """Returns the container that starts the processes of the workers: in an MPIJob, and in a task of Volcano."""
    if run.kind == "MPIJob":
        role = run.role("Launcher")
    else:
        role = next((one for one in run.roles if not one.trains and is_volcano(run)), None)
    return role.container if role is not None else None


def _passes_on(launcher: Container, name: str) -> bool:
    """True if `mpirun -x NAME` passes on a variable of the launcher's own environment."""
    return any(("-x", name) in pairwise(command.words) for command in launcher.commands)
