"""Integers. A number from the values keeps its origin through a conversion, since it stays the same number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gotemplate.running import Function
from gotemplate.syntax import UnsupportedError
from gotemplate.tracked import Value, first_origin

_WHOLE = re.compile(r"[-+]?\d+$")


def to_int64(value: Value) -> int:
    """Returns a value as an integer, as Go's `cast.ToInt64` does."""
    data = value.data
    if data is None:
        return 0
    if isinstance(data, bool | int | float):
        return int(data)
    if isinstance(data, str):
        # Digits after a leading zero would be octal. Our charts never write such numbers.
        return int(data) if _WHOLE.match(data) else 0
    raise UnsupportedError("a list or a mapping as a number")


def _int(args: Sequence[Value]) -> Value:
    return Value(to_int64(args[0]), args[0].source)


def _float(args: Sequence[Value]) -> Value:
    data: Any = args[0].data
    return Value(float(data or 0), args[0].source)


def _folded(fold: Callable[[int, int], int]) -> Function:
    def function(args: Sequence[Value]) -> Value:
        result = to_int64(args[0])
        for other in args[1:]:
            result = fold(result, to_int64(other))
        return Value(result, first_origin(args))

    return function


def _quotient(one: int, other: int) -> int:
    """Returns the quotient. Go rounds toward zero."""
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


FUNCTIONS: dict[str, Function] = {
    "int": _int,
    "int64": _int,
    "float64": _float,
    "atoi": _int,
    "add": _folded(lambda one, other: one + other),
    "sub": _folded(lambda one, other: one - other),
    "mul": _folded(lambda one, other: one * other),
    "div": _folded(_quotient),
    "mod": _folded(lambda one, other: one - other * _quotient(one, other)),
    "max": _folded(max),
    "min": _folded(min),
    "add1": lambda args: Value(to_int64(args[0]) + 1, first_origin(args)),
}
