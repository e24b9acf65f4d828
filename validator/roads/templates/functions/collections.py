"""Lists and mappings. What a template makes holds `Value`s, so that each item keeps its origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from validator.roads.origins import Origin
from validator.roads.templates.functions.texts import printed
from validator.roads.templates.running import Function, Templates
from validator.roads.templates.syntax import UnsupportedError
from validator.roads.templates.tracked import Value, derived, first


def _list(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([*args])


def _dict(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value({printed(key): value for key, value in zip(args[::2], args[1::2], strict=True)})


def _get(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    found = args[0].item(printed(args[1]))
    return found if args[1].data in args[0].data else found._replace(data="")


def _index(templates: Templates, args: Sequence[Value]) -> Value:
    value = args[0]
    for key in args[1:]:
        if value.data is None:
            raise templates.failed(f"{key.data} is asked of what is empty", value.origin)
        value = value.item(int(key.data) if isinstance(value.data, list) else key.data)
    return value


def _set(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    args[0].data[printed(args[1])] = args[2]
    return args[0]


def _has_key(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(args[1].data in args[0].data, first((args[0].item(args[1].data), args[0])))


def _keys(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([_key(mapping, key) for mapping in args for key in sorted(mapping.data or ())])


def _key(mapping: Value, key: str) -> Value:
    """A key as text. One that a template set has the origin of its value, and is no copy of it."""
    origin = mapping.origin
    if origin is not None:
        return Value(key, Origin((*origin.path, key), origin.exact, on_key=True))
    return Value(key, derived(mapping.item(key).source))


def _pick(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value({key.data: args[0].item(key.data) for key in args[1:] if key.data in args[0].data})


def _omit(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    without = {key.data for key in args[1:]}
    return Value({key: args[0].item(key) for key in args[0].data if key not in without})


def _merge(templates: Templates, args: Sequence[Value]) -> Value:
    """The first mapping, filled up from the others: mergo takes what is empty in it for missing."""
    merged = dict(copied(args[0]).data)
    for other in args[1:]:
        for key, item in other.items():
            own = merged.get(key)
            if own is None or (not own and not isinstance(own.data, dict)):
                merged[key] = item
            elif isinstance(own.data, dict) and isinstance(item.data, dict):
                merged[key] = _merge(templates, (own, item))
    if args[0].origin is None:
        # Templates rely on the first mapping being changed.
        args[0].data.update(merged)
        return args[0]
    return Value(merged, derived(args[0].origin))


def copied(value: Value) -> Value:
    """A copy that may be changed, at any depth."""
    if isinstance(value.data, dict):
        return Value({key: copied(value.item(key)) for key in value.data}, value.origin)
    return value


def _deep_copy(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return copied(args[0])


def _concat(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([item for value in args for _, item in value.items()], args[0].source if len(args) == 1 else None)


def _append(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([*(item for _, item in args[0].items()), args[1]])


def _has(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(args[0].plain() in args[1].plain() if args[1] else False, first(args))


def _uniq(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    found: list[Value] = []
    for index in range(len(args[0].data)):
        item = args[0].item(index)
        if item.plain() not in [known.plain() for known in found]:
            found.append(item)
    return Value(found)


def _sorted(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value(sorted((item for _, item in args[0].items()), key=printed))


def _until(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([Value(number, first(args)) for number in range(int(args[0].data))])


def _split_list(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([Value(word, derived(args[1].source)) for word in args[1].data.split(args[0].data)])


def _join(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    items = [item for _, item in args[1].items()]
    return Value(args[0].data.join(map(printed, items)), first((*items, args[1])))


def _len(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    data: Any = args[0].data
    return Value(len(data.encode() if isinstance(data, str) else data or ()), first(args))


def _end(index: int) -> Function:
    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        data = args[0].data
        if data is not None and not isinstance(data, list):
            raise UnsupportedError("an end of what is no list")
        return args[0].item(index % len(data)) if data else Value(None, args[0].source)

    return function


def _rest(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return Value([item for _, item in args[0].items()][1:])


FUNCTIONS: dict[str, Function] = {
    "list": _list,
    "dict": _dict,
    "get": _get,
    "index": _index,
    "set": _set,
    "hasKey": _has_key,
    "keys": _keys,
    "pick": _pick,
    "omit": _omit,
    "merge": _merge,
    "deepCopy": _deep_copy,
    "concat": _concat,
    "append": _append,
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
}
