"""Lists and mappings. Those built by a template hold `Value`s, so that each item keeps its origin."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.functions.texts import print_value
from gotemplate.origin import Origin
from gotemplate.programs import Function
from gotemplate.tracked import Value, derived_origin, first_origin


def _list(args: Sequence[Value]) -> Value:
    return Value([*args])


def _dict(args: Sequence[Value]) -> Value:
    # The value of a last key without one is an empty text.
    pairs = itertools.zip_longest(args[::2], args[1::2], fillvalue=Value(""))
    return Value({print_value(key): value for key, value in pairs})


def _get(args: Sequence[Value]) -> Value:
    mapping, key = args
    found = mapping.item(print_value(key))
    return found if key.data in mapping.data else found._replace(data="")


def _index(args: Sequence[Value]) -> Value:
    value, *keys = args
    for key in keys:
        if value.data is None:
            raise FailedError(f"{key.data} is read from an empty value", value.origin)
        value = value.item(int(key.data) if isinstance(value.data, list) else key.data)
    return value


def _set(args: Sequence[Value]) -> Value:
    mapping, key, value = args
    mapping.data[print_value(key)] = value
    return mapping


def _unset(args: Sequence[Value]) -> Value:
    mapping, key = args
    mapping.data.pop(print_value(key), None)
    return mapping


def _has_key(args: Sequence[Value]) -> Value:
    mapping, key = args
    return Value(key.data in mapping.data, first_origin((mapping.item(key.data), mapping)))


def _keys(args: Sequence[Value]) -> Value:
    return Value([_key(mapping, key) for mapping in args for key in sorted(mapping.data or ())])


def _key(mapping: Value, key: str) -> Value:
    """Returns a key as text. A key set by a template has the origin of its value and does not count as a copy of it."""
    origin = mapping.origin
    if origin is not None:
        return Value(key, Origin((*origin.path, key), origin.exact, on_key=True))
    return Value(key, derived_origin(mapping.item(key).source))


def _pick(args: Sequence[Value]) -> Value:
    mapping, *keys = args
    return Value({key.data: mapping.item(key.data) for key in keys if key.data in mapping.data})


def _omit(args: Sequence[Value]) -> Value:
    mapping, *keys = args
    without = {key.data for key in keys}
    return Value({key: mapping.item(key) for key in mapping.data if key not in without})


def _merge(args: Sequence[Value]) -> Value:
    """Returns the first mapping, filled up from the others. mergo treats an empty value as missing."""
    target, *others = args
    merged = dict(deep_copy(target).data)
    for other in others:
        for key, item in other.items():
            own = merged.get(key)
            if own is not None and isinstance(own.data, dict) and isinstance(item.data, dict):
                merged[key] = _merge((own, item))
            elif not own:
                merged[key] = item
    if target.origin is None:
        # Templates rely on the first mapping being modified in place.
        target.data.update(merged)
        return target
    return Value(merged, derived_origin(target.origin))


def _merge_overwrite(args: Sequence[Value]) -> Value:
    """Returns the first mapping with all entries of the others, which win."""
    target, *others = args
    if target.origin is not None:
        target = deep_copy(target)._replace(origin=None)
    for other in others:
        for key, item in other.items():
            own = target.item(key)
            both = isinstance(own.data, dict) and isinstance(item.data, dict)
            target.data[key] = _merge_overwrite((own, item)) if both else item
    return target


def deep_copy(value: Value) -> Value:
    """Returns a deep copy that may be modified."""
    if isinstance(value.data, dict):
        return Value({key: deep_copy(value.item(key)) for key in value.data}, value.origin)
    return value


def _deep_copy(args: Sequence[Value]) -> Value:
    (value,) = args
    return deep_copy(value)


def _dig(args: Sequence[Value]) -> Value:
    *keys, default, value = args
    for key in keys:
        if key.data not in value.data:
            return default
        value = value.item(key.data)
    return value


def _values(args: Sequence[Value]) -> Value:
    return Value([item for mapping in args for _, item in mapping.items()])


def _concat(args: Sequence[Value]) -> Value:
    return Value([item for value in args for _, item in value.items()], args[0].source if len(args) == 1 else None)


def _append(args: Sequence[Value]) -> Value:
    items, added = args
    return Value([*(item for _, item in items.items()), added])


def _prepend(args: Sequence[Value]) -> Value:
    items, added = args
    return Value([added, *(item for _, item in items.items())])


def _without(args: Sequence[Value]) -> Value:
    items, *others = args
    unwanted = [value.plain() for value in others]
    return Value([item for _, item in items.items() if item.plain() not in unwanted])


def _slice(args: Sequence[Value]) -> Value:
    items, *bounds = args
    start, end = (*(int(value.data) for value in bounds), None, None)[:2]
    return Value([item for _, item in items.items()][start:end])


def _has(args: Sequence[Value]) -> Value:
    item, items = args
    return Value(item.plain() in (items.plain() or ()), first_origin(args))


def _uniq(args: Sequence[Value]) -> Value:
    (items,) = args
    found: list[Value] = []
    for index in range(len(items.data)):
        item = items.item(index)
        if item.plain() not in [known.plain() for known in found]:
            found.append(item)
    return Value(found)


def _sorted(args: Sequence[Value]) -> Value:
    (items,) = args
    words = (item if isinstance(item.data, str) else Value(print_value(item), item.source) for _, item in items.items())
    return Value(sorted(words, key=lambda word: str(word.data)))


def _split_list(args: Sequence[Value]) -> Value:
    separator, text = args
    return Value([Value(word, derived_origin(text.source)) for word in text.data.split(separator.data)])


def _join(args: Sequence[Value]) -> Value:
    separator, found = args
    items = [item for _, item in found.items() if item.data is not None]
    return Value(separator.data.join(map(print_value, items)), first_origin((*items, found)))


def _len(args: Sequence[Value]) -> Value:
    (value,) = args
    data: Any = value.data
    return Value(len(data.encode() if isinstance(data, str) else data or ()), first_origin(args))


def _end(index: int) -> Function:
    def function(args: Sequence[Value]) -> Value:
        (items,) = args
        if not isinstance(items.data, list | None):
            raise UnsupportedError("an end of a value that is not a list")
        return items.item(index % len(items.data)) if items.data else Value(None, items.source)

    return function


def _rest(args: Sequence[Value]) -> Value:
    (items,) = args
    return Value([item for _, item in items.items()][1:])


def _initial(args: Sequence[Value]) -> Value:
    (items,) = args
    return Value([item for _, item in items.items()][:-1])


def _lookup(args: Sequence[Value]) -> Value:  # noqa: ARG001 - no cluster answers
    return Value({})


FUNCTIONS: dict[str, Function] = {
    "list": _list,
    "tuple": _list,
    "dict": _dict,
    "get": _get,
    "index": _index,
    "set": _set,
    "unset": _unset,
    "hasKey": _has_key,
    "keys": _keys,
    "pick": _pick,
    "omit": _omit,
    "merge": _merge,
    "mergeOverwrite": _merge_overwrite,
    "dig": _dig,
    "values": _values,
    "deepCopy": _deep_copy,
    "concat": _concat,
    "append": _append,
    "prepend": _prepend,
    "without": _without,
    "slice": _slice,
    "has": _has,
    "uniq": _uniq,
    "sortAlpha": _sorted,
    "splitList": _split_list,
    "join": _join,
    "len": _len,
    "first": _end(0),
    "last": _end(-1),
    "rest": _rest,
    "initial": _initial,
    "lookup": _lookup,
}
