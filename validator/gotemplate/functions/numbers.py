"""Whole numbers. A number of the user's keeps its origin through a conversion, since it stays the same number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from validator.roads.templates.running import Function, Templates
from validator.roads.templates.syntax import UnsupportedError
from validator.roads.templates.tracked import Value, first

_WHOLE = re.compile(r"[-+]?\d+$")


def whole(value: Value) -> int:
    """What Go's `cast.ToInt64` makes of a value."""
    data = value.data
    if data is None:
        return 0
    if isinstance(data, bool | int | float):
        return int(data)
    if isinstance(data, str):
        # Digits behind a leading zero would be octal: no number of ours is written so.
        return int(data) if _WHOLE.match(data) else 0
    raise UnsupportedError("a list or a mapping as a number")


def _int(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(whole(args[0]), args[0].source)


def _float(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    data: Any = args[0].data
    return Value(float(data or 0), args[0].source)


def _folded(fold: Callable[[int, int], int]) -> Function:
    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        result = whole(args[0])
        for other in args[1:]:
            result = fold(result, whole(other))
        return Value(result, first(args))

    return function


def _quotient(one: int, other: int) -> int:
    """Go rounds toward zero."""
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


FUNCTIONS: dict[str, Function] = {
    "int": _int,
    "int64": _int,
    "float64": _float,
    "add": _folded(lambda one, other: one + other),
    "sub": _folded(lambda one, other: one - other),
    "mul": _folded(lambda one, other: one * other),
    "div": _folded(_quotient),
    "mod": _folded(lambda one, other: one - other * _quotient(one, other)),
    "max": _folded(max),
    "min": _folded(min),
    "add1": lambda _, args: Value(whole(args[0]) + 1, first(args)),
}
