"""Which volume a path in a container lies on."""

from __future__ import annotations

import functools

from validator.model import Container, Mount


def mount_of(container: Container, path: str) -> Mount | None:
    """The mount that a path lies below, the deepest one; None when it lies in the image."""
    parts = _parts(path)
    found = [mount for mount in container.mounts if parts[: len(_parts(mount.mount_path))] == _parts(mount.mount_path)]
    return max(found, key=lambda mount: len(_parts(mount.mount_path)), default=None)


@functools.lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))
