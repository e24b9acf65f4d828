"""`include`, and YAML and JSON in templates."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

from gotemplate import printing
from gotemplate.errors import FailedError
from gotemplate.functions.texts import quote
from gotemplate.origin import Origin, Path
from gotemplate.programs import Function
from gotemplate.scalars import resolve_scalar
from gotemplate.tracked import Value, Writer, derived_origin, last_origin
from gotemplate.yaml_reader import BrokenError, load_documents
from gotemplate.yaml_text import node_origins

# `json.dumps` would make an encoder for each text.
_encode = json.JSONEncoder(ensure_ascii=False).encode

# Strings that Go writes without quotes and that no YAML parser takes for a date.
_PLAIN = re.compile(r"(?!\d{4}-)[A-Za-z0-9_./][-A-Za-z0-9_./]*\Z")


def _to_yaml(args: Sequence[Value]) -> Value:
    (value,) = args
    writer = Writer()
    _write_yaml(value, 0, writer)
    return writer.text()


def _write_yaml(value: Value, column: int, writer: Writer) -> None:
    """Writes block style; each node has the range that a parser gives to it."""
    start = writer.length
    if value.data and isinstance(value.data, dict):
        for number, (key, item) in enumerate(value.items()):
            writer.literal(("\n" + " " * column) * bool(number) + _scalar_text(key) + ":")
            nested = bool(item.data) and isinstance(item.data, dict)
            deeper = column + 2 * nested
            is_block = nested or (bool(item.data) and isinstance(item.data, list))
            writer.literal("\n" + " " * deeper if is_block else " ")
            _write_yaml(item, deeper, writer)
    elif value.data and isinstance(value.data, list):
        for number, item in value.items():
            writer.literal(("\n" + " " * column) * bool(number) + "- ")
            _write_yaml(item, column + 2, writer)
    else:
        writer.literal(_scalar_text(value.data))
    writer.mark(start, value.origin if _is_copy(value) else derived_origin(value.origin))


def _is_copy(value: Value) -> bool:
    """True if a mapping still equals the one in the values: a template may have changed its copy."""
    origin, data = value.origin, value.data
    if origin is None or not isinstance(data, dict):
        return True
    own = [(key, item) for key, item in data.items() if isinstance(item, Value)]
    return all(item.origin == Origin((*origin.path, key), exact=True) and _is_copy(item) for key, item in own)


def _scalar_text(data: Any) -> str:
    if isinstance(data, str):
        return data if _PLAIN.match(data) and isinstance(resolve_scalar(data), str) else quote(data)
    if isinstance(data, dict | list):
        return "{}" if isinstance(data, dict) else "[]"
    return printing.json_scalar(data)


# Most of what helpers return as YAML is the same for each kind of object, and for each rendering of a chart.
_documents = functools.lru_cache(maxsize=1024)(load_documents)


def _from_yaml(kind: type[dict[str, Any]] | type[list[Any]], name: str) -> Function:
    def function(args: Sequence[Value]) -> Value:
        (text,) = args
        try:
            found = _documents(text.data)
        except BrokenError:
            found = None
        if found is None or len(found) > 1:
            raise FailedError(f"{name} got invalid YAML", text.source)
        if not found:
            return Value(kind())
        ((tree, root),) = found
        return _tracked(tree, node_origins(root, text), ())

    return function


def _tracked(tree: Any, known: dict[Path, Origin], path: Path) -> Value:
    """Returns a tree in which each node has its origin."""
    origin = known.get(path)
    if isinstance(tree, dict):
        return Value({key: _tracked(item, known, (*path, key)) for key, item in tree.items()}, derived_origin(origin))
    if isinstance(tree, list):
        return Value(
            [_tracked(item, known, (*path, number)) for number, item in enumerate(tree)], derived_origin(origin)
        )
    return Value(float(tree) if isinstance(tree, int) and not isinstance(tree, bool) else tree, origin)


def _to_json(*, raw: bool, indent: int | None = None) -> Function:
    def function(args: Sequence[Value]) -> Value:
        (value,) = args
        text = _json(value, indent, 0)
        if not raw:
            text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        source = value.source if value.source is not None else last_origin(_below(value))
        return Value(text, source, (), _read_back(value))

    return function


def _json(value: Value, indent: int | None, column: int) -> str:
    data = value.data
    if isinstance(data, str):
        return _json_text(data)
    if not isinstance(data, dict | list):
        return printing.json_scalar(data)
    deeper = column + (indent or 0)
    between = "," + ("\n" + " " * deeper if indent else "")
    colon = ": " if indent else ":"
    named = isinstance(data, dict)
    words = [(_json_text(key) + colon if named else "") + _json(item, indent, deeper) for key, item in value.items()]
    opening, closing = "{}" if named else "[]"
    if indent and words:
        return f"{opening}\n{' ' * deeper}{between.join(words)}\n{' ' * column}{closing}"
    return opening + between.join(words) + closing


def _json_text(text: str) -> str:
    return _encode(text).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _read_back(value: Value) -> Value:
    """Returns a copy of a value as it is after a round trip through JSON."""
    if isinstance(value.data, dict):
        return Value({key: _read_back(value.item(key)) for key in value.data}, value.origin)
    if isinstance(value.data, list):
        return Value([_read_back(item) for _, item in value.items()], value.origin)
    is_whole = isinstance(value.data, int) and not isinstance(value.data, bool)
    return value._replace(data=float(value.data)) if is_whole else value


def _from_json(kind: type[dict[str, Any]] | type[list[Any]], name: str) -> Function:
    def function(args: Sequence[Value]) -> Value:
        (text,) = args
        written = text.written
        if written is None:
            try:
                written = _tracked(json.loads(text.data), {}, ())
            except (ValueError, RecursionError):
                raise FailedError(f"{name} got invalid JSON", text.source) from None
        if not isinstance(written.data, kind):
            raise FailedError(f"{name} got another type of JSON", text.source)
        return _read_back(written)

    return function


def _below(value: Value) -> list[Value]:
    if not isinstance(value.data, dict | list):
        return [value]
    return [found for _, item in value.items() for found in _below(item)]


FUNCTIONS: dict[str, Function] = {
    "toYaml": _to_yaml,
    "fromYaml": _from_yaml(dict, "fromYaml"),
    "fromYamlArray": _from_yaml(list, "fromYamlArray"),
    "fromJson": _from_json(dict, "fromJson"),
    "fromJsonArray": _from_json(list, "fromJsonArray"),
    "toJson": _to_json(raw=False),
    "toRawJson": _to_json(raw=True),
    "toPrettyJson": _to_json(raw=False, indent=2),
    "toRawPrettyJson": _to_json(raw=True, indent=2),
}
