"""Tells objects from the patches of objects, in which required fields may be missing."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.document.document import Document

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_WORDS = ("patch", "overlay", "override", "merge")


def is_partial(document: Document) -> bool:
    """True if the document may be a patch: by its name, or because a kustomization stands beside it."""
    return is_named_patch(document) or _is_beside_kustomization(os.path.dirname(document.source.name))


def is_named_patch(document: Document) -> bool:
    """True if the path of the document says that it changes another one."""
    name = document.source.name.lower()
    return any(word in name for word in _WORDS)


@functools.lru_cache(maxsize=256)
def _is_beside_kustomization(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in KUSTOMIZATIONS)
