"""Volumes and mounts of a container's paths."""

from __future__ import annotations

import functools

from trainyard.document.lookup import text
from trainyard.model.run import Container, Mount, Pod


def mount_of(container: Container, path: str) -> Mount | None:
    """Returns the deepest mount that contains a path; None if the path is in the image."""
    parts = _parts(path)
    # Kubernetes rejects an empty path.
    named = [(_parts(mount.mount_path), mount) for mount in container.mounts if mount.mount_path]
    found = [(len(above), mount) for above, mount in named if parts[: len(above)] == above]
    return max(found, key=lambda one: one[0], default=(0, None))[1]


def host_paths(pod: Pod) -> list[str]:
    """Returns the paths of the node that the pod has as volumes."""
    return [text(volume.body, "path") for volume in pod.volumes if volume.kind == "hostPath"]


def mounts_devices(pod: Pod, start: str) -> bool:
    """True if the pod has devices of the node whose paths begin like this, or all of `/dev`."""
    return any(path.startswith(start) or path.rstrip("/") == "/dev" for path in host_paths(pod))


@functools.lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))
