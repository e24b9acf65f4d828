"""Tells whole pods from those of a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.model.run import Pod


def is_patch(pod: Pod) -> bool:
    """True if a container has no image: another file has it, as in a patch of a kustomization."""
    return any("image" not in container.tree for container in pod.containers)
