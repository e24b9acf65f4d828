"""Other templates, YAML and JSON in templates."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from validator import reading
from validator.roads.origins import Origin
from validator.roads.templates import printing
from validator.roads.templates.functions.texts import printed, quoted
from validator.roads.templates.running import Function, Templates
from validator.roads.templates.syntax import UnsupportedError
from validator.roads.templates.tracked import Value, Writer, derived, last
from validator.roads.templates.yaml_text import origins
from validator.scalars import scalar
from validator.source import Path, Source

_PLAIN = re.compile(r"[A-Za-z_./][-A-Za-z0-9_./]*\Z")


def _include(templates: Templates, args: Sequence[Value]) -> Value:
    return templates.render(printed(args[0]), args[1])


def _to_yaml(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    writer = Writer()
    _write_yaml(args[0], 0, writer)
    return writer.text()


def _write_yaml(value: Value, column: int, writer: Writer) -> None:
    """Block style, in which each node has the range that a parser gives to it."""
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
    writer.mark(start, value.origin if _is_copy(value) else derived(value.origin))


def _is_copy(value: Value) -> bool:
    """Whether a mapping still is what the values have, for a template may have changed its copy."""
    origin, data = value.origin, value.data
    if origin is None or not isinstance(data, dict):
        return True
    own = [(key, item) for key, item in data.items() if isinstance(item, Value)]
    return all(item.origin == Origin((*origin.path, key), exact=True) and _is_copy(item) for key, item in own)


def _scalar_text(data: Any) -> str:
    if isinstance(data, str):
        return data if _PLAIN.match(data) and isinstance(scalar(data), str) else quoted(data)
    if isinstance(data, dict | list):
        return "{}" if isinstance(data, dict) else "[]"
    return printing.as_json(data)


def _from_yaml(templates: Templates, args: Sequence[Value]) -> Value:
    documents, broken = reading.read(Source("", args[0].data))
    if broken or len(documents) > 1:
        raise templates.failed("fromYaml is given what is no YAML", args[0].source)
    if not documents:
        return Value({})
    node = documents[0].node
    if node is None:
        raise UnsupportedError("YAML without a node")
    return _tracked(documents[0].tree, origins(node, args[0]), ())


def _tracked(tree: Any, known: dict[Path, Origin], path: Path) -> Value:
    """A tree of which each node has its origin."""
    origin = known.get(path)
    if isinstance(tree, dict):
        return Value({key: _tracked(item, known, (*path, key)) for key, item in tree.items()}, derived(origin))
    if isinstance(tree, list):
        return Value([_tracked(item, known, (*path, number)) for number, item in enumerate(tree)], derived(origin))
    return Value(float(tree) if isinstance(tree, int) and not isinstance(tree, bool) else tree, origin)


def _to_json(*, raw: bool, indent: int | None = None) -> Function:
    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        text = _json(args[0], indent, 0)
        if not raw:
            text = "".join(f"\\u{ord(letter):04x}" if letter in "<>&" else letter for letter in text)
        return Value(text, args[0].source if args[0].source is not None else last(_below(args[0])))

    return function


def _json(value: Value, indent: int | None, column: int) -> str:
    data = value.data
    if isinstance(data, str):
        return json.dumps(data, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    if not isinstance(data, dict | list):
        return printing.as_json(data)
    deeper = column + (indent or 0)
    between = "," + ("\n" + " " * deeper if indent else "")
    colon = ": " if indent else ":"
    named = isinstance(data, dict)
    words = [
        (_json(Value(key), None, 0) + colon if named else "") + _json(item, indent, deeper)
        for key, item in value.items()
    ]
    opening, closing = "{}" if named else "[]"
    if indent and words:
        return f"{opening}\n{' ' * deeper}{between.join(words)}\n{' ' * column}{closing}"
    return opening + between.join(words) + closing


def _below(value: Value) -> list[Value]:
    if not isinstance(value.data, dict | list):
        return [value]
    return [found for _, item in value.items() for found in _below(item)]


FUNCTIONS: dict[str, Function] = {
    "include": _include,
    "toYaml": _to_yaml,
    "fromYaml": _from_yaml,
    "toJson": _to_json(raw=False),
    "toRawJson": _to_json(raw=True),
    "toPrettyJson": _to_json(raw=False, indent=2),
    "toRawPrettyJson": _to_json(raw=True, indent=2),
}
