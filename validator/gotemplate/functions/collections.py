"""Lists and mappings. Those built by a template hold `Value`s, so that each item keeps its origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gotemplate.functions.texts import print_value
from gotemplate.origin import Origin
from gotemplate.running import FailedError, Function
from gotemplate.syntax import UnsupportedError
from gotemplate.tracked import Value, derived_origin, first_origin


def _list(args: Sequence[Value]) -> Value:
    return Value([*args])


def _dict(args: Sequence[Value]) -> Value:
    return Value({print_value(key): value for key, value in zip(args[::2], args[1::2], strict=True)})


def _get(args: Sequence[Value]) -> Value:
    found = args[0].item(print_value(args[1]))
    return found if args[1].data in args[0].data else found._replace(data="")


def _index(args: Sequence[Value]) -> Value:
    value = args[0]
    for key in args[1:]:
        if value.data is None:
            raise FailedError(f"{key.data} is read from an empty value", value.origin)
        value = value.item(int(key.data) if isinstance(value.data, list) else key.data)
    return value


def _set(args: Sequence[Value]) -> Value:
    args[0].data[print_value(args[1])] = args[2]
    return args[0]


def _unset(args: Sequence[Value]) -> Value:
    args[0].data.pop(print_value(args[1]), None)
    return args[0]


def _has_key(args: Sequence[Value]) -> Value:
    return Value(args[1].data in args[0].data, first_origin((args[0].item(args[1].data), args[0])))


def _keys(args: Sequence[Value]) -> Value:
    return Value([_key(mapping, key) for mapping in args for key in sorted(mapping.data or ())])


def _key(mapping: Value, key: str) -> Value:
    """Returns a key as text. A key set by a template has the origin of its value and does not count as a copy of it."""
    origin = mapping.origin
    if origin is not None:
        return Value(key, Origin((*origin.path, key), origin.exact, on_key=True))
    return Value(key, derived_origin(mapping.item(key).source))


def _pick(args: Sequence[Value]) -> Value:
    return Value({key.data: args[0].item(key.data) for key in args[1:] if key.data in args[0].data})


def _omit(args: Sequence[Value]) -> Value:
    without = {key.data for key in args[1:]}
    return Value({key: args[0].item(key) for key in args[0].data if key not in without})


def _merge(args: Sequence[Value]) -> Value:
    """Returns the first mapping, filled up from the others. mergo treats an empty value as missing."""
    merged = dict(deep_copy(args[0]).data)
    for other in args[1:]:
        for key, item in other.items():
            own = merged.get(key)
            if own is not None and isinstance(own.data, dict) and isinstance(item.data, dict):
                merged[key] = _merge((own, item))
            elif not own:
                merged[key] = item
    if args[0].origin is None:
        # Templates rely on the first mapping being modified in place.
        args[0].data.update(merged)
        return args[0]
    return Value(merged, derived_origin(args[0].origin))


def _merge_overwrite(args: Sequence[Value]) -> Value:
    """Returns the first mapping with all entries of the others, which win."""
    if args[0].origin is not None:
        args = (deep_copy(args[0])._replace(origin=None), *args[1:])
    merged = args[0].data
    for other in args[1:]:
        for key, item in other.items():
            own = args[0].item(key)
            if isinstance(own.data, dict) and isinstance(item.data, dict):
                merged[key] = _merge_overwrite((own, item))
            else:
                merged[key] = item
    return args[0]


def deep_copy(value: Value) -> Value:
    """Returns a deep copy that may be modified."""
    if isinstance(value.data, dict):
        return Value({key: deep_copy(value.item(key)) for key in value.data}, value.origin)
    return value


def _deep_copy(args: Sequence[Value]) -> Value:
    return deep_copy(args[0])


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
    return Value([*(item for _, item in args[0].items()), args[1]])


def _prepend(args: Sequence[Value]) -> Value:
    return Value([args[1], *(item for _, item in args[0].items())])


def _without(args: Sequence[Value]) -> Value:
    unwanted = [value.plain() for value in args[1:]]
    return Value([item for _, item in args[0].items() if item.plain() not in unwanted])


def _slice(args: Sequence[Value]) -> Value:
    start, end = (*(int(value.data) for value in args[1:]), None)[:2]
    return Value([item for _, item in args[0].items()][start:end])


def _has(args: Sequence[Value]) -> Value:
    return Value(args[0].plain() in args[1].plain() if args[1] else False, first_origin(args))


def _uniq(args: Sequence[Value]) -> Value:
    found: list[Value] = []
    for index in range(len(args[0].data)):
        item = args[0].item(index)
        if item.plain() not in [known.plain() for known in found]:
            found.append(item)
    return Value(found)


def _sorted(args: Sequence[Value]) -> Value:
    words = (
        item if isinstance(item.data, str) else Value(print_value(item), item.source) for _, item in args[0].items()
    )
    return Value(sorted(words, key=lambda word: str(word.data)))


def _until(args: Sequence[Value]) -> Value:
    return Value([Value(number, first_origin(args)) for number in range(int(args[0].data))])


def _split_list(args: Sequence[Value]) -> Value:
    return Value([Value(word, derived_origin(args[1].source)) for word in args[1].data.split(args[0].data)])


def _join(args: Sequence[Value]) -> Value:
    items = [item for _, item in args[1].items()]
    return Value(args[0].data.join(map(print_value, items)), first_origin((*items, args[1])))


def _len(args: Sequence[Value]) -> Value:
    data: Any = args[0].data
    return Value(len(data.encode() if isinstance(data, str) else data or ()), first_origin(args))


def _end(index: int) -> Function:
    def function(args: Sequence[Value]) -> Value:
        data = args[0].data
        if data is not None and not isinstance(data, list):
            raise UnsupportedError("an end of a value that is not a list")
        return args[0].item(index % len(data)) if data else Value(None, args[0].source)

    return function


def _rest(args: Sequence[Value]) -> Value:
    return Value([item for _, item in args[0].items()][1:])


def _initial(args: Sequence[Value]) -> Value:
    return Value([item for _, item in args[0].items()][:-1])


def _lookup(args: Sequence[Value]) -> Value:  # noqa: ARG001 - no cluster answers
    return Value({})


FUNCTIONS: dict[str, Function] = {
    "list": _list,
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
    "until": _until,
    "splitList": _split_list,
    "join": _join,
    "len": _len,
    "first": _end(0),
    "last": _end(-1),
    "rest": _rest,
    "initial": _initial,
    "lookup": _lookup,
}
