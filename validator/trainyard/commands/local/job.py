"""The job that the chart renders from the values, as far as one machine can run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gotemplate.errors import FailedError
from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.volumes import Data, LocalVolume, fetched, volumes
from trainyard.document.document import Document
from trainyard.document.lookup import items, mapping, text
from trainyard.document.source import Source
from trainyard.loaders.manifests import manifest
from trainyard.loaders.training_job.release import Release, merged_values, release_objects
from trainyard.model.run import Container, Pod, Project

KINDS = ("PyTorchJob", "TrainJob")
# Variables that the chart sets for a user without an entry in /etc/passwd. This machine has one.
OF_THE_USER = {"HOME": "/tmp", "USER": "trainer", "LOGNAME": "trainer"}  # noqa: S108
# The default of Kubernetes (Pod API, terminationGracePeriodSeconds).
_GRACE_SECONDS = 30


class Job(NamedTuple):
    """A run, without everything that only a cluster has.

    `command` starts the program if `launcher` is `command`. `options` are those of the launcher, `program` is the
    module or script with its arguments. `secrets` are variables, each with its source on the cluster; `sources` names
    the ConfigMaps and Secrets of which every key is a variable. `left_out` are variables of the fabric. `restarts` is
    torchrun's `--max-restarts`.
    """

    release: str
    launcher: str
    nodes: int
    processes: int | str
    gpus: int
    command: tuple[str, ...]
    options: tuple[str, ...]
    program: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    sources: tuple[str, ...]
    left_out: tuple[str, ...]
    volumes: tuple[LocalVolume, ...]
    data: Data | None
    metrics_port: int | None
    restarts: int
    grace_seconds: int


def job_of(own: Mapping[str, Any], release: str, nodes: int | None = None, processes: int | None = None) -> Job:
    """Returns the job of a release with these values; `nodes` and `processes` override its size.

    An elastic run gets its minimum number of nodes. Raises `RunRefusedError`.
    """
    seen = merged_values(own)
    if seen["kind"] not in KINDS:
        raise RunRefusedError(
            f"kind is {seen['kind']}: this machine runs what torchrun starts, a {' or '.join(KINDS)}; where the "
            "program is one of PyTorch, add --set kind=PyTorchJob"
        )
    elastic = seen["elastic"]
    least = elastic["minNodes"] if elastic["enabled"] else seen["nodes"]
    chosen = {**own, "nodes": nodes or least, **({"processesPerNode": processes} if processes else {})}
    # A fabric's variables, devices and folders are those of its own nodes.
    here = {key: value for key, value in chosen.items() if key != "fabric"}
    values = merged_values(chosen)
    return _job(merged_values(here), release, _own_environment(_rendered(values, release).container))


class _Rendered(NamedTuple):
    """`processes` is the number of processes of a pod; None if torchrun counts them."""

    container: Container
    pod: Pod
    project: Project
    processes: int | None


def _rendered(values: Mapping[str, Any], release: str) -> _Rendered:
    try:
        made = release_objects(values, Release(release, "default"))
    except FailedError as error:
        raise RunRefusedError(f"the chart refuses these values: {error.message}") from None
    # A hook is not part of the run: the preflight's Job would be a run of its own.
    project = manifest.load_project(
        Document(Source(one.template, ""), 0, one.tree, ()) for one in made if not one.is_hook
    )
    run = next(run for run in project.runs if run.kind == values["kind"])
    role = run.training_roles[0]
    return _Rendered(role.pod.containers[role.main], role.pod, project, run.processes)


def _job(values: Mapping[str, Any], release: str, there: Mapping[str, str]) -> Job:
    """Returns the job of the values; `there` are the variables that the pods have on the cluster."""
    container, pod, project, counted = _rendered(values, release)
    launcher, elastic, processes = values["launcher"], values["elastic"], values.get("processesPerNode")
    plain, data = _own_environment(container), fetched(values)
    return Job(
        release=release,
        launcher=launcher,
        nodes=int(values["nodes"]),
        processes=processes if isinstance(processes, str) else int(processes or counted or 1),
        gpus=container.gpus,
        command=tuple(map(_literal, container.command)) if launcher == "command" else (),
        options=tuple(map(_word, values["accelerate" if launcher == "accelerate" else "torchrun"]["args"])),
        program=tuple(map(_literal, container.args)),
        environment=plain,
        secrets=_secrets(container),
        sources=tuple(_sources(container)),
        left_out=tuple(sorted(there.keys() - plain.keys())),
        volumes=tuple(volumes(container, pod, project, data)),
        data=data,
        metrics_port=int(values["metrics"]["port"]) if values["metrics"]["enabled"] else None,
        restarts=int(elastic["maxRestarts"]) if elastic["enabled"] else 0,
        grace_seconds=pod.tree.get("terminationGracePeriodSeconds", _GRACE_SECONDS),
    )


def _own_environment(container: Container) -> dict[str, str]:
    """Returns the plain variables, without those that stand for the user of the pods."""
    return {name: value for name, value in _environment(container).items() if value != OF_THE_USER.get(name)}


def _literal(written: str) -> str:
    """Returns the text of a field in which Kubernetes would expand `$(NAME)`: the chart has doubled every `$`."""
    return written.replace("$$", "$")


def _word(value: str | float | bool) -> str:
    """Returns a value as the chart writes it into a word."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _environment(container: Container) -> dict[str, str]:
    return {entry["name"]: _literal(entry["value"]) for entry in items(container.tree, "env") if "value" in entry}


def _secrets(container: Container) -> dict[str, str]:
    """Returns the variables whose values are in Secrets, and their sources. Pod fields are left out."""
    references = {entry["name"]: mapping(entry, "valueFrom", "secretKeyRef") for entry in items(container.tree, "env")}
    return {name: f"key {one['key']} of Secret {one['name']}" for name, one in references.items() if one}


def _sources(container: Container) -> Iterator[str]:
    for entry in items(container.tree, "envFrom"):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if field in entry:
                yield f"{kind} {text(entry, field, 'name')}"
