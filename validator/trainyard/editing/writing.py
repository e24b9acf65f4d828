"""Values as YAML text, in the way in which people write manifests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from validator.scalars import scalar

# What needs no quotes in any surroundings. Digits alone could be a number, a date or a time of day to some parser.
_PLAIN = re.compile(r"[\w./+(-][\w ./+=@%~()$^-]*(?::[\w./+=@%~()$^-]+)*")
_LETTER = re.compile(r"[^\W\d_]")


def inline(value: Any, *, as_json: bool = False) -> str:
    """A value on one line, fit for a flow collection too."""
    if as_json or value is None or isinstance(value, bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inline(str(key))}: {inline(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(inner) for inner in value) + "]"
    return str(value) if is_plain(str(value)) else json.dumps(str(value), ensure_ascii=False)


def is_plain(text: str) -> bool:
    """Whether a text is the same without quotes."""
    if not _PLAIN.fullmatch(text) or text != text.strip() or text.startswith(("- ", "---")):
        return False
    return scalar(text) == text and _LETTER.search(text) is not None


def field(key: str, value: Any) -> list[str]:
    """The lines of a field."""
    name = inline(key)
    if isinstance(value, dict | list) and value:
        return [f"{name}:", *_indented(block(value))]
    first, *rest = _text(value)
    return [f"{name}: {first}", *_indented(rest)]


def item(value: Any) -> list[str]:
    """The lines of a list's item."""
    first, *rest = block(value)
    return [f"- {first}", *_indented(rest)]


def block(value: Any) -> list[str]:
    """The lines of a value in block style."""
    if isinstance(value, dict) and value:
        return [line for key, inner in value.items() for line in field(str(key), inner)]
    if isinstance(value, list) and value:
        return [line for inner in value for line in item(inner)]
    return list(_text(value))


def is_script(lines: list[str]) -> bool:
    """Whether lines end in a text that needs the end of its last line."""
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    head = next((line for line in reversed(lines) if line.strip() and len(line) - len(line.lstrip()) < indent), "")
    return head.endswith((": |", "- |"))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _text(value: Any) -> Iterator[str]:
    """A scalar, or an empty collection; text of several lines as it is."""
    lines = value.split("\n") if isinstance(value, str) else []
    if len(lines) < 2 or not lines[0].strip() or any(line != line.rstrip() or not line.isprintable() for line in lines):
        yield inline(value)
        return
    yield "|" if value.endswith("\n") else "|-"
    yield from lines[:-1] if value.endswith("\n") else lines
