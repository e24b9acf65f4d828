"""Writes values as YAML text in the usual style of manifests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gotemplate.scalars import resolve_scalar

# Texts that need no quotes anywhere. Digits alone could be a number, a date or a time of day to some parser.
_PLAIN = re.compile(r"[\w./+(-][\w ./+=@%~()$^-]*(?::[\w./+=@%~()$^-]+)*")
_LETTER = re.compile(r"[^\W\d_]")


def flow_text(value: Any, *, as_json: bool = False) -> str:
    """Returns a value on one line that is valid in a flow collection too."""
    if as_json or value is None or isinstance(value, bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_text(str(key))}: {flow_text(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow_text(inner) for inner in value) + "]"
    return str(value) if is_plain(str(value)) else json.dumps(str(value), ensure_ascii=False)


def is_plain(text: str) -> bool:
    """True if a text is the same without quotes."""
    if not _PLAIN.fullmatch(text) or text.endswith(" ") or text.startswith(("- ", "---")):
        return False
    return resolve_scalar(text) == text and _LETTER.search(text) is not None


def field_lines(key: str, value: Any) -> list[str]:
    """Returns the lines of a field."""
    name = flow_text(key)
    if isinstance(value, dict | list) and value:
        return [f"{name}:", *_indented(block_lines(value))]
    first, *rest = _text(value)
    return [f"{name}: {first}", *_indented(rest)]


def item_lines(value: Any) -> list[str]:
    """Returns the lines of a list item."""
    first, *rest = block_lines(value)
    return [f"- {first}", *_indented(rest)]


def block_lines(value: Any) -> list[str]:
    """Returns the lines of a value in block style."""
    if isinstance(value, dict) and value:
        return [line for key, inner in value.items() for line in field_lines(str(key), inner)]
    if isinstance(value, list) and value:
        return [line for inner in value for line in item_lines(inner)]
    return list(_text(value))


def is_script(lines: list[str]) -> bool:
    """True if the lines end in a block scalar that needs the end of its last line."""
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    head = next((line for line in reversed(lines) if line.strip() and len(line) - len(line.lstrip()) < indent), "")
    return head.endswith((": |", "- |"))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _text(value: Any) -> Iterator[str]:
    """Yields a scalar or an empty collection; text of several lines as a block scalar."""
    lines = value.split("\n") if isinstance(value, str) else []
    if len(lines) < 2 or not lines[0].strip() or any(line != line.rstrip() or not line.isprintable() for line in lines):
        yield flow_text(value)
        return
    yield "|" if value.endswith("\n") else "|-"
    yield from lines[:-1] if value.endswith("\n") else lines
