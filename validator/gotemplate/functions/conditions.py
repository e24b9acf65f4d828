"""Comparisons, choices and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from validator.roads.templates.running import Function, Templates
from validator.roads.templates.tracked import Value, first

_KINDS = ((bool, "bool"), (int, "int"), (float, "float64"), (str, "string"), (list, "slice"), (dict, "map"))


def _kind(data: Any) -> str:
    return next((name for kind, name in _KINDS if isinstance(data, kind)), "invalid")


def _eq(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    found = any(_same(args[0].plain(), other.plain()) for other in args[1:])
    return Value(found, first(args))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _ne(templates: Templates, args: Sequence[Value]) -> Value:
    found = _eq(templates, args)
    return found._replace(data=not found.data)


def _compared(compare: Callable[[Any, Any], bool]) -> Function:
    return lambda _, args: Value(compare(args[0].data, args[1].data), first(args))


def _not(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(not args[0], first(args))


def _default(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return args[1] if args[1] else _instead(args[0], args[1:])


def _instead(chosen: Value, reasons: Sequence[Value]) -> Value:
    """What is there because of other values, where it has no origin of its own."""
    return chosen if chosen.source is not None else chosen._replace(origin=first(reasons))


def _coalesce(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return next((value for value in args if value), Value(None))


def _ternary(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return _instead(args[0] if args[2] else args[1], args[2:])


def _kind_is(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(args[0].data == _kind(args[1].data), first(args[1:]))


def _kind_of(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(_kind(args[0].data), first(args))


def _fail(templates: Templates, args: Sequence[Value]) -> Value:
    raise templates.failed(args[0].data)


def _required(templates: Templates, args: Sequence[Value]) -> Value:
    if args[1].data in (None, ""):
        raise templates.failed(args[0].data, args[1].source)
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
