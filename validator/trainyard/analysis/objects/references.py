"""References from a run and its pods to other objects: secrets, claims, accounts, classes, clusters and others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.jobs.workloads import RAY_CLUSTER
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Run
from trainyard.startup import NamedTuple

# A namespaced pod uses these without a namespace of its own.
NAMESPACED = (
    *("ConfigMap", "Secret", "PersistentVolumeClaim", "ServiceAccount", "LocalQueue", "TrainingRuntime"),
    "RayCluster",
)


class Reference(NamedTuple):
    """The name of an object at a place; `key` is a key of its data, if the reference names one."""

    kind: str
    name: str
    at: Place
    optional: bool = False
    key: str = ""


_POD_FIELDS = (
    ("ServiceAccount", "serviceAccountName"),
    ("PriorityClass", "priorityClassName"),
    ("RuntimeClass", "runtimeClassName"),
)


def references(run: Run) -> tuple[Reference, ...]:
    """Returns all references of a run, each once."""
    return _references.of(run)


def _find(run: Run) -> tuple[Reference, ...]:
    found = [*_of_run(run), *(one for role in run.roles for one in _of_pod(role.pod))]
    # The roles of a run mostly refer to the same objects.
    first = {(one.kind, one.name, one.key): one for one in reversed(found) if one.name and "$" not in one.name}
    # A rule that takes the first reference to an object means its name, and not one of its keys.
    ordered = tuple(reversed(first.values()))
    return (*(one for one in ordered if not one.key), *(one for one in ordered if one.key))


def _of_run(run: Run) -> Iterator[Reference]:
    if queue := run.labels.get(QUEUE):
        yield Reference("LocalQueue", str(queue), run.at.child("metadata", "labels", QUEUE))
    if text(run.spec, "runtimeRef", "kind") == "TrainingRuntime":
        yield Reference(
            "TrainingRuntime", text(run.spec, "runtimeRef", "name"), run.at.child("spec", "runtimeRef", "name")
        )
    if run.kind == "RayJob" and (cluster := text(run.spec, "clusterSelector", RAY_CLUSTER)):
        yield Reference("RayCluster", cluster, run.at.child("spec", "clusterSelector", RAY_CLUSTER))


def _of_pod(pod: Pod) -> Iterator[Reference]:
    for volume in pod.volumes:
        yield from _of_source(volume.kind, volume.body, volume.at.child(volume.kind))
    for kind, field in _POD_FIELDS:
        # A job may have thousands of roles, and most of them name none of these.
        if name := text(pod.tree, field):
            yield Reference(kind, name, pod.at.child(field))
    for index, secret in enumerate(items(pod.tree, "imagePullSecrets")):
        yield Reference("Secret", text(secret, "name"), pod.at.child("imagePullSecrets", index, "name"), optional=True)
    for container in (*pod.containers, *pod.init_containers):
        yield from _of_env(container)
        yield from _of_sub_paths(container, pod)


def _of_source(kind: str, body: dict[str, Any], at: Place) -> Iterator[Reference]:
    if kind == "persistentVolumeClaim":
        yield Reference("PersistentVolumeClaim", text(body, "claimName"), at.child("claimName"))
    elif kind == "configMap":
        yield from _with_keys("ConfigMap", body, "name", at)
    elif kind == "secret":
        yield from _with_keys("Secret", body, "secretName" if "secretName" in body else "name", at)
    elif kind == "projected":
        for index, source in enumerate(items(body, "sources")):
            for inner in ("configMap", "secret"):
                yield from _of_source(inner, mapping(source, inner), at.child("sources", index, inner))


def _with_keys(kind: str, body: dict[str, Any], field: str, at: Place) -> Iterator[Reference]:
    name, optional = text(body, field), body.get("optional") is True
    yield Reference(kind, name, at.child(field), optional)
    for index, item in enumerate(items(body, "items")):
        yield Reference(kind, name, at.child("items", index, "key"), optional, text(item, "key"))


def _of_env(container: Container) -> Iterator[Reference]:
    tree, at = container.tree, container.at
    for index, entry in enumerate(items(tree, "envFrom")):
        for kind, field in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            body = mapping(entry, field)
            place = at.child("envFrom", index, field, "name")
            yield Reference(kind, text(body, "name"), place, body.get("optional") is True)
    for index, entry in enumerate(items(tree, "env")):
        source = mapping(entry, "valueFrom")
        for kind, field in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")) if source else ():
            body = mapping(source, field)
            place, optional = at.child("env", index, "valueFrom", field), body.get("optional") is True
            yield Reference(kind, text(body, "name"), place.child("name"), optional)
            yield Reference(kind, text(body, "name"), place.child("key"), optional, text(body, "key"))


def _of_sub_paths(container: Container, pod: Pod) -> Iterator[Reference]:
    for index, mount in enumerate(items(container.tree, "volumeMounts")):
        key, volume = text(mount, "subPath"), pod.volume(text(mount, "name"))
        if not key or "/" in key or volume is None or items(volume.body, "items"):
            continue
        kind, field = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName")}.get(
            volume.kind, ("", "")
        )
        if kind:
            place = container.at.child("volumeMounts", index, "subPath")
            yield Reference(kind, text(volume.body, field), place, volume.body.get("optional") is True, key)


_references: LastIndex[Run, tuple[Reference, ...]] = LastIndex(_find)
