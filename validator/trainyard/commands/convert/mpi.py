"""An MPIJob: the values `mpi`, and the program that mpirun starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.pods import put_resources
from trainyard.commands.convert.roles import Part, differences
from trainyard.commands.convert.words import known_names, literals
from trainyard.document.lookup import decimal, items, mapping, text
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.facts.programs.mpi_options import HYDRA, OPEN_MPI
from trainyard.model.run import Command, Run

# `mpirun.openmpi` and `mpirun.mpich` are the names of Debian, which installs both libraries.
_STARTERS = (*MPI_LAUNCHERS, "mpiexec.hydra", "mpirun.openmpi", "mpirun.mpich")
# Options that the chart writes.
_OWN = frozenset((
    "np", "n", "N", "npernode", "ppn", "hostfile", "f", "map-by", "allow-run-as-root",
))  # fmt: skip
# The chart's default for the variables of the image.
_IMAGE = ("PATH", "LD_LIBRARY_PATH")


class Start(NamedTuple):
    """A start of mpirun: its command, kept options, variables of the image, variables with values, and the program.

    `processes` is the number of all processes, None if mpirun takes one for each slot.
    """

    command: str
    args: list[str]
    names: list[str]
    settings: dict[str, str]
    program: list[str]
    processes: int | None


def put_mpi(draft: Draft, run: Run, launcher: Part, worker: Part) -> None:
    """Writes what an MPIJob has beside its workers' pods."""
    spec = run.spec
    is_new = run.api_version.endswith("v2beta1")
    draft.put("mpi.apiVersion", None if is_new else "kubeflow.org/v1")
    draft.put("mpi.implementation", text(spec, "mpiImplementation") or "OpenMPI")
    draft.put("mpi.launcher.creationPolicy", text(spec, "launcherCreationPolicy") or "WaitForWorkersReady")
    draft.put("mpi.launcher.asWorker", spec.get("runLauncherAsWorker") is True)
    draft.put("processesPerNode", spec.get("slotsPerWorker", 1))
    if not draft.values.get("mpi", {}).get("launcher", {}).get("asWorker"):
        put_resources(draft, "mpi.launcher.resources", mapping(launcher.container, "resources"))
    if is_new:
        _put_ssh(draft, run, worker)
    start = _start(run, launcher)
    _add_variables(launcher, worker, start)
    if start is None:
        draft.lost.append("the Launcher's command: the chart starts one mpirun itself, from mpi and train")
        draft.put("train.command", ["python3"], "The program of the job is lost: name it here")
        return
    if start.processes not in (None, run.world_size):
        draft.lost.append(f"mpirun -np {start.processes}: the chart fills all slots, {run.world_size} processes")
    draft.put("mpi.command", [start.command])
    draft.put("mpi.args", start.args)
    draft.put("mpi.imageVariables", list(dict.fromkeys((*_IMAGE, *start.names))))
    draft.put("train.command", start.program[:1])
    draft.put("train.args", start.program[1:] or None)
    apart = [path for path in differences(_common(launcher), _common(worker)) if path]
    draft.changes.extend(f"the launcher has the workers' {path}, because all pods share it" for path in apart)


def _add_variables(launcher: Part, worker: Part, start: Start | None) -> None:
    """Gives the worker the variables of the launcher: the chart has one list for both."""
    own = {text(entry, "name"): entry for entry in items(worker.container, "env")}
    own |= {text(entry, "name"): entry for entry in items(launcher.container, "env")}
    for name, value in (start.settings if start is not None else {}).items():
        own[name] = {"name": name, "value": value.replace("$", "$$")}
    worker.container["env"] = list(own.values())


def _common(part: Part) -> dict[str, Any]:
    """Returns the fields of a pod that the chart gives to all pods of an MPIJob."""
    spec = mapping(part.template, "spec")
    fields = ("nodeSelector", "tolerations", "affinity", "priorityClassName", "serviceAccountName", "securityContext")
    found = {field: spec.get(field) for field in fields}
    found["image"] = text(part.container, "image")
    found["securityContext of the container"] = part.container.get("securityContext")
    found["mounts"] = sorted(text(mount, "mountPath") for mount in items(part.container, "volumeMounts"))
    return found


def _put_ssh(draft: Draft, run: Run, worker: Part) -> None:
    path = text(run.spec, "sshAuthMountPath") or "/root/.ssh"
    draft.put("mpi.ssh.mountPath", path)
    words = [*map(str, items(worker.container, "command")), *map(str, items(worker.container, "args"))]
    if words[:1] and words[0].rsplit("/", 1)[-1] == "sshd" and words[0].startswith("/"):
        draft.put("mpi.ssh.daemon", words[0])
    elif words:
        draft.lost.append("the Worker's command: the chart starts sshd itself, see mpi.ssh")
    pod, own = mapping(worker.template, "spec", "securityContext"), mapping(worker.container, "securityContext")
    if path == "/root/.ssh" and "runAsUser" not in pod and "runAsUser" not in own:
        # The operator protects the key for root, who runs the image.
        worker.template["spec"]["securityContext"] = {**pod, "runAsUser": 0}
        draft.changes.append("podSecurityContext.runAsUser is 0: the keys of the job lie in root's folder")
    elif "runAsUser" in own and "runAsUser" not in pod:
        worker.template["spec"]["securityContext"] = {**pod, "runAsUser": own["runAsUser"]}


def _start(run: Run, launcher: Part) -> Start | None:
    """Returns the one start of mpirun that the launcher consists of, None for any other program."""
    container = next(role.container for role in run.roles if role.name == launcher.name)
    commands = [] if container is None else [one for one in container.commands if one.words[:1] != ("set",)]
    if len(commands) != 1 or commands[0].program not in _STARTERS:
        return None
    if container is not None and container.scripts and any("$" in word for word in commands[0].words):
        return None
    return _parsed(commands[0], launcher, run)


def _parsed(command: Command, launcher: Part, run: Run) -> Start | None:
    words = literals(command.words, known_names(launcher, run.kind))
    is_hydra = text(run.spec, "mpiImplementation") in ("Intel", "MPICH")
    if words is None:
        return None
    args: list[str] = []
    names: list[str] = []
    settings: dict[str, str] = {}
    processes: int | None = None
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        found = _option(rest, {**OPEN_MPI, **HYDRA} if is_hydra else {**HYDRA, **OPEN_MPI})
        if found is None:
            return None
        option, values, rest = found
        name = option.lstrip("-")
        if name in ("x", "genv"):
            variable, equals, value = values[0].partition("=")
            if equals or values[1:]:
                settings[variable] = values[1] if values[1:] else value
            else:
                names.append(variable)
        elif name == "genvlist":
            names += values[0].split(",")
        elif name in ("np", "n"):
            processes = decimal(values[0])
            if processes is None:
                return None
        elif name not in _OWN:
            args += ["--bind-to" if name == "bind-to" else option, *values]
    return Start(words[0], args, names, settings, rest, processes) if rest else None


def _option(words: list[str], known: Mapping[str, int]) -> tuple[str, list[str], list[str]] | None:
    """Returns the first option, its values, and the words after them; None if a value is missing."""
    option, equals, value = words[0].partition("=")
    if equals:
        return option, [value], words[1:]
    name = option.lstrip("-")
    # An option that is not known takes a value. Hydra takes `-genv NAME VALUE`, and `-genv NAME=VALUE` too.
    taken = 1 if name in ("env", "genv") and "=" in "".join(words[1:2]) else known.get(name, 1)
    values, rest = words[1 : 1 + taken], words[1 + taken :]
    return (option, values, rest) if len(values) == taken else None
