"""The volumes of a run's pods, and their content on the cluster before the run starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.document.lookup import mapping, text
from trainyard.model.run import Container, Pod, Project

# This machine has both, at the same paths.
_OF_THE_MACHINE = ("/tmp", "/dev/shm")  # noqa: S108


class LocalVolume(NamedTuple):
    """A volume of the pods, at `path`.

    `is_own` is true if each pod has one of its own. `holds` describes its content before the run starts, None if empty.
    `files` are those that the release itself brings, by name.
    """

    path: str
    is_own: bool
    holds: str | None
    files: Mapping[str, str]


class Data(NamedTuple):
    """The data set that an init container would fetch: the folder in the pods, and a description of the data."""

    path: str
    source: str


def volumes(container: Container, pod: Pod, project: Project, data: Data | None) -> Iterator[LocalVolume]:
    """Yields the volumes of a container except those of every machine. `project` holds the objects of the release."""
    for mount in container.mounts:
        volume = pod.volume(mount.volume)
        if volume is None or mount.mount_path in _OF_THE_MACHINE:
            continue
        path = mount.mount_path.rstrip("/")
        if data is not None and f"{data.path}/".startswith(f"{path}/"):
            # Shared, whatever volume it is: users bring the data by hand, and should do so only once.
            yield LocalVolume(path, is_own=False, holds=None, files={})
            continue
        files = _files(volume.kind, volume.body, project)
        # Files of the release name folders, which differ between pods.
        is_own = bool(files) or volume.kind in ("emptyDir", "ephemeral")
        yield LocalVolume(path, is_own, None if files else _contents(volume.kind, volume.body, project), files)


def fetched(values: Mapping[str, Any]) -> Data | None:
    """Returns the data that is fetched before training, from the merged values."""
    dataset = values["dataset"]
    kind = dataset["source"]
    if not kind:
        return None
    mounts = {"scratch": values["scratch"], **values["volumes"]}
    source = dataset[kind]
    words = source.get("urls") or [source.get("url") or source.get("repository") or f"claim {source.get('name')}"]
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return Data(f"{mounts[dataset['volume']]['mountPath'].rstrip('/')}/{dataset['path']}", f"{words[0]}{more}")


def _files(kind: str, body: dict[str, Any], project: Project) -> dict[str, str]:
    own = project.named("ConfigMap", text(body, "name"), "default") if kind == "configMap" else None
    return mapping(own.tree, "data") if own is not None else {}


def _contents(kind: str, body: dict[str, Any], project: Project) -> str | None:
    if kind == "persistentVolumeClaim":
        name = text(body, "claimName")
        is_new = project.named("PersistentVolumeClaim", name, "default") is not None
        return None if is_new else f"claim {name}"
    contents = {
        "nfs": f"{text(body, 'server')}:{text(body, 'path')}",
        "hostPath": f"{text(body, 'path')} of the node",
        "configMap": f"ConfigMap {text(body, 'name')}",
        "secret": f"Secret {text(body, 'secretName')}",
    }
    return contents.get(kind)
