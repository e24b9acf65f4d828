"""Comparisons, choices and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gotemplate.running import FailedError, Function
from gotemplate.tracked import Value, first_origin

_KINDS = ((bool, "bool"), (int, "int"), (float, "float64"), (str, "string"), (list, "slice"), (dict, "map"))


def _kind(data: Any) -> str:
    return next((name for kind, name in _KINDS if isinstance(data, kind)), "invalid")


def _eq(args: Sequence[Value]) -> Value:
    found = any(_same(args[0].plain(), other.plain()) for other in args[1:])
    return Value(found, first_origin(args))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _ne(args: Sequence[Value]) -> Value:
    found = _eq(args)
    return found._replace(data=not found.data)


def _compared(compare: Callable[[Any, Any], bool]) -> Function:
    return lambda args: Value(compare(args[0].data, args[1].data), first_origin(args))


def _not(args: Sequence[Value]) -> Value:
    return Value(not args[0], first_origin(args))


def _default(args: Sequence[Value]) -> Value:
    return args[1] if args[1] else _with_origin(args[0], args[1:])


def _with_origin(chosen: Value, reasons: Sequence[Value]) -> Value:
    """Returns the chosen value; without an origin of its own, it gets that of the values that decided."""
    return chosen if chosen.source is not None else chosen._replace(origin=first_origin(reasons))


def _coalesce(args: Sequence[Value]) -> Value:
    return next((value for value in args if value), Value(None))


def _ternary(args: Sequence[Value]) -> Value:
    return _with_origin(args[0] if args[2] else args[1], args[2:])


def _kind_is(args: Sequence[Value]) -> Value:
    return Value(args[0].data == _kind(args[1].data), first_origin(args[1:]))


def _kind_of(args: Sequence[Value]) -> Value:
    return Value(_kind(args[0].data), first_origin(args))


def _fail(args: Sequence[Value]) -> Value:
    raise FailedError(args[0].data)


def _required(args: Sequence[Value]) -> Value:
    if args[1].data in (None, ""):
        raise FailedError(args[0].data, args[1].source)
    return args[1]


FUNCTIONS: dict[str, Function] = {
    "eq": _eq,
    "ne": _ne,
    "lt": _compared(lambda one, other: one < other),
    "le": _compared(lambda one, other: one <= other),
    "gt": _compared(lambda one, other: one > other),
    "ge": _compared(lambda one, other: one >= other),
    "not": _not,
    "empty": _not,
    "default": _default,
    "coalesce": _coalesce,
    "ternary": _ternary,
    "kindIs": _kind_is,
    "kindOf": _kind_of,
    "fail": _fail,
    "required": _required,
}
