"""Volumes and mounts of a container's paths."""

from __future__ import annotations

import functools

from trainyard.document.lookup import text
from trainyard.model.run import Container, Mount, Pod


def mount_of(container: Container, path: str) -> Mount | None:
    """Returns the deepest mount that contains a path; None if the path is in the image."""
    parts, deepest, found = _parts(path), -1, None
    for mount in container.mounts:
        above = _parts(mount.mount_path)
        # Kubernetes rejects an empty path.
        if mount.mount_path and len(above) > deepest and parts[: len(above)] == above:
            deepest, found = len(above), mount
    return found


def host_paths(pod: Pod) -> list[str]:
    """Returns the paths of the node that the pod has as volumes."""
    return [text(volume.body, "path") for volume in pod.volumes if volume.kind == "hostPath"]


def mounts_devices(pod: Pod, start: str) -> bool:
    """True if the pod has devices of the node whose paths begin like this, or all of `/dev`."""
    return any(path.startswith(start) or path.rstrip("/") == "/dev" for path in host_paths(pod))


@functools.lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))
