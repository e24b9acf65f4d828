"""Kubernetes quantities: `64Gi`, `500m`, `1e9`. Source: k8s.io/apimachinery pkg/api/resource/quantity.go."""

from __future__ import annotations

import functools
import math
from typing import Any

from trainyard.startup import pattern

# Possessive repetition: digits with an invalid end would otherwise be tried in every possible way.
_QUANTITY = pattern(r"([+-]?(?:\d++\.?\d*+|\.\d++))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d++))?$")
_SUFFIX = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    **{f"{letter}i": 1024.0 ** (power + 1) for power, letter in enumerate("KMGTPE")},
}  # fmt: skip


def parse_quantity(quantity: Any) -> float | None:
    """Returns the quantity in its base unit (bytes, cores, devices); None if it is invalid."""
    return _number(str(quantity)) if isinstance(quantity, str | int | float) else None


@functools.lru_cache(maxsize=1024)
def _number(text: str) -> float | None:
    match = _QUANTITY.match(text)
    if match is None:
        return None
    digits, suffix, exponent = match.groups()
    if len(digits) > 40 or len(exponent or "") > 3 or abs(int(exponent or 0)) > 40:
        # More than a float holds, and more than any cluster has.
        return None
    return float(digits) * (_SUFFIX[suffix] if suffix else 10.0 ** int(exponent) if exponent else 1.0)


def finite_number(value: Any) -> float | None:
    """Returns a number, or the number that a text holds; None for anything else, such as `auto`, true or infinity."""
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
