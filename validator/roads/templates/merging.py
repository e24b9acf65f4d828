"""Values files and defaults to the values that a template sees, as Helm merges them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def merge(files: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Several values files as one: mappings are merged, of anything else the last counts, null included."""
    merged: dict[str, Any] = {}
    for values in files:
        merged = _over(merged, values)
    return merged


def _over(base: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        own = merged.get(key)
        merged[key] = _over(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    return merged


def with_defaults(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The values with the chart's defaults below them. A null takes a default away."""
    merged = dict(values)
    for key, default in defaults.items():
        if key not in merged:
            merged[key] = default
        elif merged[key] is None:
            del merged[key]
        elif isinstance(merged[key], dict) and isinstance(default, dict):
            merged[key] = with_defaults(merged[key], default)
    return merged
