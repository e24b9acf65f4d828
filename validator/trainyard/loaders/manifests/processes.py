"""The number of training processes in each pod of a run."""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import decimal, mapping
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.programs.launchers import Launcher, launcher_in
from trainyard.model.run import Container, Role

# Scripts that start a launcher take these options too.
_PROCESSES = ("--nproc-per-node", "--num-gpus")


def processes(kind: str, spec: dict[str, Any], runtime: dict[str, Any] | None, roles: tuple[Role, ...]) -> int | None:
    """Returns the number of training processes in each pod: the launcher's option, or one for each GPU."""
    training = next((role for role in roles if role.trains), None)
    container = training.container if training is not None else None
    launcher, told = launcher_of(container)
    if kind == "PyTorchJob":
        told = told or spec.get("nprocPerNode") or mapping(spec, "elasticPolicy").get("nProcPerNode")
        told = told or ("auto" if launcher else "unknown")
    elif kind == "MPIJob":
        told = spec.get("slotsPerWorker", 1)
    elif kind in ("TrainJob", *RUNTIMES):
        told = told or _processes_of_policy(spec, runtime if kind == "TrainJob" else spec, launcher)
    elif kind == "HyperPodPyTorchJob":
        told = told or spec.get("nprocPerNode") or "auto"
    elif kind.startswith("Ray") or _started_by_another(roles):
        told = told or "unknown"
    elif launcher is not None and launcher.is_greedy:
        told = told or "auto"
    if isinstance(told, int):
        return told
    if isinstance(told, str) and (number := decimal(told)) is not None:
        return number
    if told in ("auto", "gpu"):
        return _gpus(container)
    return 1 if told is None else None


def _started_by_another(roles: tuple[Role, ...]) -> bool:
    """True if a role that does not train starts the processes of those that do."""
    return any(launcher_of(role.container)[0] for role in roles if not role.trains)


def launcher_of(container: Container | None) -> tuple[Launcher | None, Any]:
    """Returns the launcher of a container, and the number of processes that it is to start."""
    launcher, told = None, None
    for command in container.commands if container is not None else ():
        start = launcher_in(command.words)
        # Others hand the program to machines of their own, or read variables that are not in the files.
        if start is not None and (start.launcher.per_node or start.launcher.total or start.launcher.is_greedy):
            launcher = start.launcher
            told = command.option(*_PROCESSES, *launcher.per_node) or told
    setting = container.setting("PET_NPROC_PER_NODE") if container is not None else None
    return launcher, told or (setting.value if setting is not None else None)


def _processes_of_policy(spec: dict[str, Any], runtime: dict[str, Any] | None, launcher: Launcher | None) -> Any:
    own = mapping(spec, "trainer").get("numProcPerNode")
    if own is not None:
        return own
    if runtime is None:
        return "auto" if launcher else "unknown"
    policy = mapping(runtime, "mlPolicy")
    if "torch" in policy:
        return mapping(policy, "torch").get("numProcPerNode") or "auto"
    if "mpi" in policy:
        # An MPI runtime that requests one process gets one for each GPU.
        slots = mapping(policy, "mpi").get("numProcPerNode", 1)
        return slots if slots != 1 else "auto"
    return None


def _gpus(container: Any) -> int | None:
    for resources in (container.limits, container.requests) if container is not None else ():
        for name, quantity in resources.items():
            if name.endswith("/gpu") and (number := decimal(str(quantity))) is not None:
                return number
    return None
