"""Integers. A number from the values keeps its origin through a conversion, since it stays the same number."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.programs import Function
from gotemplate.tracked import Value, derived_origin, first_origin

# The digits behind a point do not count.
_NUMBER = re.compile(r"([-+]?[0-9]+)(?:\.[0-9]*)?")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def to_int64(value: Value) -> int:
    """Returns a value as an integer, as Go's `cast.ToInt64` does."""
    data = value.data
    if data is None:
        return 0
    if isinstance(data, bool | int | float):
        return int(data)
    if isinstance(data, str):
        # Digits after a leading zero would be octal. Our charts never write such numbers.
        found = _NUMBER.fullmatch(data)
        return int(found[1]) if found is not None else 0
    raise UnsupportedError("a list or a mapping as a number")


def _int(args: Sequence[Value]) -> Value:
    (value,) = args
    return Value(to_int64(value), value.source)


def _float(args: Sequence[Value]) -> Value:
    (value,) = args
    data: Any = value.data
    is_other = isinstance(data, str) and _FLOAT.fullmatch(data) is None
    return Value(float(0 if is_other else data or 0), value.source)


def _atoi(args: Sequence[Value]) -> Value:
    (value,) = args
    return Value(int(value.data) if _WHOLE.fullmatch(value.data) else 0, value.source)


def _folded(fold: Callable[[int, int], int]) -> Function:
    def function(args: Sequence[Value]) -> Value:
        return Value(functools.reduce(fold, map(to_int64, args)), first_origin(args))

    return function


def _quotient(one: int, other: int) -> int:
    """Returns the quotient. Go rounds toward zero."""
    if not other:
        raise FailedError("integer divide by zero")
    return abs(one) // abs(other) * (1 if one * other > 0 else -1)


def _rounded(round_: Callable[[float], int]) -> Function:
    def function(args: Sequence[Value]) -> Value:
        (value,) = args
        return Value(float(round_(_float(args).data)), derived_origin(value.source))

    return function


def _round(args: Sequence[Value]) -> Value:
    value, digits = args
    power = 10.0 ** to_int64(digits)
    moved = power * _float((value,)).data
    up = math.modf(moved)[0] >= 0.5
    return Value((math.ceil(moved) if up else math.floor(moved)) / power, derived_origin(value.source))


FUNCTIONS: dict[str, Function] = {
    "int": _int,
    "int64": _int,
    "float64": _float,
    "atoi": _atoi,
    "add": _folded(lambda one, other: one + other),
    "sub": _folded(lambda one, other: one - other),
    "mul": _folded(lambda one, other: one * other),
    "div": _folded(_quotient),
    "mod": _folded(lambda one, other: one - other * _quotient(one, other)),
    "max": _folded(max),
    "biggest": _folded(max),
    "min": _folded(min),
    "ceil": _rounded(math.ceil),
    "floor": _rounded(math.floor),
    "round": _round,
    "add1": lambda args: Value(to_int64(args[0]) + 1, first_origin(args)),
}
