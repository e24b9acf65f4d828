"""Scalars as spelled in the file: `010` and `yes`, where the tree holds 8 and true."""

from __future__ import annotations

from trainyard.document.document import Place
from trainyard.loaders.schemas.partial import is_built_by_kustomize

_TRUE_OR_FALSE = ("true", "false")


def unquoted_scalar(place: Place) -> str | None:
    """Returns the text of an unquoted scalar; None for anything else."""
    root = place.document.node
    if root is None:
        return None
    # Files that were read without positions have no nodes, and importing yaml would take longer than many rules.
    from yaml import ScalarNode

    from trainyard.document.positions import walk

    _, node, exists = walk(root, place.path)
    return str(node.value) if exists and isinstance(node, ScalarNode) and not node.style else None


def is_quoted_by_kustomize(place: Place, value: object) -> bool:
    """True for `yes`, `off` and their like in a file that kustomize builds: it reads texts, and writes quotes.

    Source: kubernetes-sigs/kustomize kyaml yaml/fns.go reads YAML 1.2, and `kubectl kustomize` writes `dedup: "off"`.
    """
    if not isinstance(value, bool) or not is_built_by_kustomize(place.document):
        return False
    return (unquoted_scalar(place) or "true").lower() not in _TRUE_OR_FALSE
