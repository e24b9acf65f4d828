"""Reads fields of untrusted trees. A value of the wrong type counts as missing: reporting it is the schema's task."""

from __future__ import annotations

from typing import Any


def mapping(tree: Any, *keys: str) -> dict[str, Any]:
    """Returns the mapping at these keys, empty if there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def items(tree: Any, *keys: str) -> list[Any]:
    """Returns the list at these keys, empty if there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, list) else []


def text(tree: Any, *keys: str) -> str:
    """Returns the string at these keys, empty if there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, str) else ""


def integer(tree: Any, *keys: str) -> int | None:
    """Returns the integer at these keys, None if there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, int) and not isinstance(tree, bool) else None


def decimal(written: str) -> int | None:
    """Returns the number of a text of decimal digits; None for anything else, and for more digits than a count has."""
    # `isdigit` alone accepts `²`, which `int` refuses, as it does a number of thousands of digits.
    return int(written) if len(written) < 10 and written.isascii() and written.isdigit() else None
