"""What the chart makes of the values, as far as one machine can have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from validator.fields import items, mapping, text
from validator.local.errors import RefusedError
from validator.local.volumes import Data, Volume, fetched, volumes
from validator.model import Container, Pod, Project
from validator.roads import manifest
from validator.roads.templates.running import FailedError
from validator.roads.training_job.release import Release, merged, objects
from validator.source import Document, Source

KINDS = ("PyTorchJob", "TrainJob")
# Kubernetes' own (Pod API, terminationGracePeriodSeconds).
_GRACE_SECONDS = 30


class Job(NamedTuple):
    """A run, without what only a cluster has.

    `command` is what starts the program where `launcher` is `command`. `options` are those of the launcher, `program`
    is the module or script with its arguments. `secrets` are variables, each with where the cluster takes it from;
    `sources` names the ConfigMaps and Secrets of which every key is a variable. `left_out` are variables of the
    fabric. `restarts` is torchrun's `--max-restarts`.
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
    volumes: tuple[Volume, ...]
    data: Data | None
    metrics_port: int | None
    restarts: int
    grace_seconds: int


def read(own: Mapping[str, Any], release: str, nodes: int | None = None, processes: int | None = None) -> Job:
    """The job of a release with these values, of `nodes` times `processes` where they are given.

    An elastic run has the fewest nodes that it trains with. Raises `RefusedError`.
    """
    seen = merged(own)
    if seen["kind"] not in KINDS:
        raise RefusedError(
            f"kind is {seen['kind']}: this machine runs what torchrun starts, a {' or '.join(KINDS)}; where the "
            "program is one of PyTorch, add --set kind=PyTorchJob"
        )
    elastic = seen["elastic"]
    least = elastic["minNodes"] if elastic["enabled"] else seen["nodes"]
    chosen = {**own, "nodes": nodes or least, "processesPerNode": processes or seen["processesPerNode"]}
    # A fabric's variables, devices and folders are those of its own nodes.
    here = {key: value for key, value in chosen.items() if key != "fabric"}
    return _job(merged(here), release, _environment(_rendered(merged(chosen), release).container))


class _Rendered(NamedTuple):
    container: Container
    pod: Pod
    project: Project


def _rendered(values: Mapping[str, Any], release: str) -> _Rendered:
    try:
        made = objects(values, Release(release, "default"))
    except FailedError as error:
        raise RefusedError(f"the chart refuses these values: {error.message}") from None
    # A hook is no part of the run: the preflight's Job would be one of its own.
    project = manifest.project(Document(Source(one.template, ""), 0, one.tree, ()) for one in made if not one.is_hook)
    role = next(role for run in project.runs if run.kind == values["kind"] for role in run.training_roles)
    return _Rendered(role.pod.containers[role.main], role.pod, project)


def _job(values: Mapping[str, Any], release: str, there: Mapping[str, str]) -> Job:
    """`there` are the variables that the pods have on the cluster."""
    container, pod, project = _rendered(values, release)
    launcher, elastic, processes = values["launcher"], values["elastic"], values["processesPerNode"]
    plain, data = _environment(container), fetched(values)
    return Job(
        release=release,
        launcher=launcher,
        nodes=int(values["nodes"]),
        processes=processes if isinstance(processes, str) else int(processes),
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


def _literal(written: str) -> str:
    """The text behind a field in which Kubernetes would expand `$(NAME)`: the chart has doubled every `$`."""
    return written.replace("$$", "$")


def _word(value: str | float | bool) -> str:
    """A value as the chart writes it into a word."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _environment(container: Container) -> dict[str, str]:
    return {entry["name"]: _literal(entry["value"]) for entry in items(container.tree, "env") if "value" in entry}


def _secrets(container: Container) -> dict[str, str]:
    """Variables whose values are in Secrets, and where. Those that come from fields of the pod are not among them."""
    references = {entry["name"]: mapping(entry, "valueFrom", "secretKeyRef") for entry in items(container.tree, "env")}
    return {name: f"key {one['key']} of Secret {one['name']}" for name, one in references.items() if one}


def _sources(container: Container) -> Iterator[str]:
    for entry in items(container.tree, "envFrom"):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if field in entry:
                yield f"{kind} {text(entry, field, 'name')}"
