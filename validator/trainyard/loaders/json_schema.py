"""Checks values against the JSON Schema of a chart: the keywords that generated schemas use, with our own messages."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from trainyard.document.source import Path
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path as FilePath

# Beside `properties` and annotations.
KEYWORDS = frozenset(
    (
        "type", "enum", "anyOf", "allOf", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
        "items", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minProperties", "maxProperties",
        "additionalProperties",
    )
)  # fmt: skip
_ARTICLES = {
    "object": "a mapping", "array": "a list", "string": "a string", "integer": "an integer", "number": "a number",
    "boolean": "true or false", "null": "null",
}  # fmt: skip

# Fields by which another object is found.
_NAMING = ("name", "secretName", "claimName", "path")
_PLAIN = re.compile(r"[A-Za-z/][\w./-]*")
_BOUNDS = {
    "minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than",
}  # fmt: skip


class Fault(NamedTuple):
    """A value that the schema refuses.

    `known` are the keys for which an unknown one may be a misspelling; `takes` describes the accepted values. `help`
    tells what to write, empty if that is not known.
    """

    path: Path
    kind: Literal["unknown key", "wrong value"]
    message: str
    known: tuple[str, ...] = ()
    takes: str = ""
    help: str = ""


def load_schema(path: FilePath) -> dict[str, Any]:
    """Returns the schema in a file, with its references resolved."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    whole: dict[str, Any] = _without_references(schema, schema.pop("$defs", {}))
    return whole


def _without_references(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_without_references(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    own = {key: _without_references(item, definitions) for key, item in part.items() if key != "$ref"}
    if "$ref" not in part:
        return own
    return _without_references(definitions[part["$ref"].removeprefix("#/$defs/")], definitions) | own


def faults(schema: dict[str, Any], value: Any, path: Path = ()) -> Iterator[Fault]:
    """Yields every fault of the value."""
    if not _fits(schema, value):
        takes = describe(schema)
        message = f"{format_path(path)} takes {takes}, not {format_value(value)}"
        yield Fault(path, "wrong value", message, takes=takes, help=_help(schema, value))
        return
    for part in schema.get("allOf", ()):
        yield from faults(part, value, path)
    if isinstance(value, dict):
        yield from _fields(schema, value, path)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from faults(schema["items"], item, (*path, index))


def _help(schema: dict[str, Any], value: Any) -> str:
    """Returns the mapping that a lone text stands for: users who know the name of an object write it alone."""
    if schema.get("type") != "object" or not isinstance(value, str) or not value:
        return ""
    field, *others = schema.get("required", ("",))
    if others or field not in _NAMING:
        return ""
    return f"write `{{{field}: {value if _PLAIN.fullmatch(value) else json.dumps(value)}}}`"


def _fields(schema: dict[str, Any], value: dict[str, Any], path: Path) -> Iterator[Fault]:
    for name in schema.get("required", ()):
        if name not in value:
            yield Fault(path, "wrong value", f"{format_path(path)} needs `{name}`")
    properties = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        parts = [properties[name]] if name in properties else []
        parts += [part for pattern, part in patterns.items() if _matches(pattern, name)]
        if not parts and others is False:
            yield _unknown((*path, name), tuple(properties), tuple(patterns))
        elif not parts and isinstance(others, dict):
            parts = [others]
        for part in parts:
            yield from faults(part, item, (*path, name))


def _unknown(path: Path, properties: tuple[str, ...], patterns: tuple[str, ...]) -> Fault:
    if properties:
        return Fault(path, "unknown key", f"the chart has no value {format_path(path)}", properties)
    return Fault(path, "wrong value", f"{format_path(path)} does not match {' or '.join(patterns)}")


def _fits(schema: dict[str, Any], value: Any) -> bool:
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(kind, value) for kind in types):
        return False
    if "enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"]):
        return False
    if "anyOf" in schema and all(next(faults(part, value), None) for part in schema["anyOf"]):
        return False
    if isinstance(value, str):
        pattern = schema.get("pattern")
        fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf)
        return bool(fits) and (pattern is None or _matches(pattern, value))
    if isinstance(value, list):
        repeats = schema.get("uniqueItems") and any(_same(one, other) for one, other in combinations(value, 2))
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf) and not repeats
    if isinstance(value, dict):
        return bool(schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", math.inf))
    if _is("number", value):
        within = schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        inside = schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
        return bool(within and inside)
    return True


def _is(kind: str, value: Any) -> bool:
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**1024
    if kind == "integer":
        return _is("number", value) and value == int(value)
    python = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, python[kind])


def _same(value: Any, allowed: Any) -> bool:
    return bool(value == allowed) and isinstance(value, bool) == isinstance(allowed, bool)


def _matches(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # `$` is only the end of the text in Go. In Python it also matches before a last line break.
    return re.compile(re.sub(r"(?<!\\)\$(?=$|\))", r"\\Z", pattern))


def describe(schema: dict[str, Any]) -> str:
    """Returns a description of the values that a schema accepts."""
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    for key, link in (("anyOf", ", or "), ("allOf", " that is also ")):
        if key in schema:
            return link.join(describe(part) for part in schema[key])
    types = schema.get("type", "a value")
    words = " or ".join(_ARTICLES.get(kind, kind) for kind in ([types] if isinstance(types, str) else types))
    if bounds := [f"{said} {schema[key]}" for key, said in _BOUNDS.items() if key in schema]:
        return f"{words} of {' and '.join(bounds)}"
    if "pattern" in schema:
        longest = f" and has at most {schema['maxLength']} characters" if "maxLength" in schema else ""
        return f"{words} that matches {schema['pattern']}{longest}"
    if schema.get("uniqueItems"):
        return f"{words} without duplicates"
    if largest := schema.get("maxItems") or schema.get("maxProperties"):
        return f"{words} of at most {largest} items"
    empty = schema.get("minLength") or schema.get("minItems") or schema.get("minProperties")
    return f"{words} that is not empty" if empty else words


def format_path(path: Path) -> str:
    """Returns a path as Helm's `--set` writes it."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{steps.removeprefix('.')}`" if path else "this"


def format_value(value: Any) -> str:
    """Returns a value for a message, cut if it is long. Collections are only named: aliases make them any size."""
    if isinstance(value, dict | list) and value:
        return _ARTICLES["object" if isinstance(value, dict) else "array"]
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
