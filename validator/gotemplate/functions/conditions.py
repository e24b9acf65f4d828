"""Comparisons, choices and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.programs import Function
from gotemplate.tracked import Value, first_origin

_KINDS = ((bool, "bool"), (int, "int"), (float, "float64"), (str, "string"), (list, "slice"), (dict, "map"))
_NAMES = dict[type, str](_KINDS)

_TYPES = {"slice": "[]interface {}", "map": "map[string]interface {}"}


def _kind(data: Any) -> str:
    return _NAMES.get(type(data)) or next((name for kind, name in _KINDS if isinstance(data, kind)), "invalid")


def _eq(args: Sequence[Value]) -> Value:
    one, *others = args
    data = one.plain()
    found = any(_same(data, other.plain()) for other in others)
    return Value(found, first_origin(args))


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _ne(args: Sequence[Value]) -> Value:
    found = _eq(args)
    return found._replace(data=not found.data)


def _compared(compare: Callable[[Any, Any], bool]) -> Function:
    def function(args: Sequence[Value]) -> Value:
        one, other = args
        return Value(compare(one.data, other.data), first_origin(args))

    return function


def _not(args: Sequence[Value]) -> Value:
    (value,) = args
    return Value(not value, first_origin(args))


def _default(args: Sequence[Value]) -> Value:
    default, *values = args
    value = values[0] if values else Value(None)
    return value if value else _with_origin(default, (value,))


def _with_origin(chosen: Value, reasons: Sequence[Value]) -> Value:
    """Returns the chosen value; without an origin of its own, it gets that of the values that decided."""
    return chosen if chosen.source is not None else chosen._replace(origin=first_origin(reasons))


def _coalesce(args: Sequence[Value]) -> Value:
    return next((value for value in args if value), Value(None))


def _ternary(args: Sequence[Value]) -> Value:
    one, other, condition = args
    return _with_origin(one if condition else other, (condition,))


def _kind_is(args: Sequence[Value]) -> Value:
    kind, value = args
    return Value(kind.data == _kind(value.data), first_origin((value,)))


def _type_is(args: Sequence[Value]) -> Value:
    wanted, value = args
    kind = _TYPES.get(_kind(value.data), _kind(value.data))
    return Value(wanted.data == kind, first_origin((value,)))


def _kind_of(args: Sequence[Value]) -> Value:
    (value,) = args
    return Value(_kind(value.data), first_origin(args))


def _type_of(args: Sequence[Value]) -> Value:
    (value,) = args
    kind = _kind(value.data)
    if kind in _TYPES and value.origin is None:
        # A list that a function made may be of texts or numbers alone.
        raise UnsupportedError("the type of a list or a mapping that a template made")
    return Value("<nil>" if value.data is None else _TYPES.get(kind, kind), first_origin(args))


def _type_is_like(args: Sequence[Value]) -> Value:
    wanted, value = args
    kind = _type_of((value,)).data
    return Value(wanted.data in (kind, f"*{kind}"), first_origin((value,)))


def _deep_equal(args: Sequence[Value]) -> Value:
    one, other = args
    return Value(_equal(one.plain(), other.plain()), first_origin(args))


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _any(args: Sequence[Value]) -> Value:
    return Value(any(args), first_origin(args))


def _all(args: Sequence[Value]) -> Value:
    return Value(all(args), first_origin(args))


def _fail(args: Sequence[Value]) -> Value:
    (message,) = args
    raise FailedError(message.data)


def _required(args: Sequence[Value]) -> Value:
    message, value = args
    if value.data in (None, ""):
        raise FailedError(message.data, value.source)
    return value


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
    "typeIs": _type_is,
    "typeOf": _type_of,
    "typeIsLike": _type_is_like,
    "deepEqual": _deep_equal,
    "any": _any,
    "all": _all,
    "fail": _fail,
    "required": _required,
}
