"""Scalars as spelled in the file: `010` and `yes`, where the tree holds 8 and true."""

from __future__ import annotations

from trainyard.document.document import Place


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
