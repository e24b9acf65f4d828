"""Reading fields of untrusted trees: a value of the wrong type is as good as absent; schemas say that it is wrong."""

from __future__ import annotations

from typing import Any


def mapping(tree: Any, *keys: str) -> dict[str, Any]:
    """The mapping below these keys, empty when there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def items(tree: Any, *keys: str) -> list[Any]:
    """The list below these keys, empty when there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, list) else []


def text(tree: Any, *keys: str) -> str:
    """The string below these keys, empty when there is none."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, str) else ""


def whole(tree: Any, *keys: str) -> int | None:
    """The integer below these keys."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, int) and not isinstance(tree, bool) else None


def decimal(written: str) -> int | None:
    """The number that a text writes in decimal digits; None for all else, and for more digits than any count has."""
    # `isdigit` alone takes `²` too, which `int` refuses, as it does a number of thousands of digits.
    return int(written) if len(written) < 10 and written.isascii() and written.isdigit() else None
