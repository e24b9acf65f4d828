"""Scalars as their file spells them: `010` and `yes`, where the tree holds 8 and true."""

from __future__ import annotations

from validator.source import Place


def plain(place: Place) -> str | None:
    """The text of a scalar without quotes; None for anything else."""
    root = place.document.node
    if root is None:
        return None
    # Where files are read without places there is no node, and importing yaml would take longer than many rules.
    from yaml import ScalarNode

    from validator.locating import walk

    _, node, exists = walk(root, place.path)
    return str(node.value) if exists and isinstance(node, ScalarNode) and not node.style else None
