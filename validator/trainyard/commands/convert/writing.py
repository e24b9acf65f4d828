"""The text of values, with comments."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.commands.convert.conversion import Converted, release_name
from trainyard.editing.writing import field_lines, flow_text

_WIDTH = 118
# Shorter collections stand on one line.
_SHORT = 90


def text_of(converted: Converted, origin: str, corrected: Sequence[str]) -> str:
    """Returns the values as a file that tells where they come from, and what differs from there."""
    run = converted.run
    namespace = f" --namespace {run.namespace}" if run.namespace else ""
    name = release_name(run)
    lines = [
        *comment_lines(f"{run.kind} {run.name} of {origin}, as values of charts/training-job"),
        f"# helm install {name} charts/training-job{namespace} -f FILE",
    ]
    for title, notes in (("Corrected", corrected), ("Changed", converted.changes), ("Lost", converted.lost)):
        for note in notes:
            lines += comment_lines(f"{title}: {note}")
    return "\n".join([*lines, *fields(converted.values, converted.comments)]) + "\n"


def comment_lines(note: str) -> list[str]:
    """Returns a note as comments of YAML."""
    flat = " ".join(note.split())
    return textwrap.wrap(
        flat, _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_long_words=False, break_on_hyphens=False
    )


def fields(tree: Mapping[str, Any], comments: Mapping[str, list[str]], above: str = "") -> Iterator[str]:
    """Yields the lines of values, each comment above the value at its path."""
    for key, value in tree.items():
        path = f"{above}{key}"
        for comment in comments.get(path, ()):
            yield from comment_lines(f"{comment}.")
        if not isinstance(value, dict) or not value or (above and _is_short(value, comments, path)):
            yield from _leaf(key, value)
        else:
            yield f"{flow_text(key)}:"
            yield from (f"  {line}" if line else "" for line in fields(value, comments, f"{path}."))


def _leaf(key: str, value: Any) -> list[str]:
    if isinstance(value, list | dict) and _is_flat(value) and len(flow_text(value)) <= _SHORT:
        return [f"{flow_text(key)}: {flow_text(value)}"]
    return field_lines(key, value)


def _is_short(value: dict[str, Any], comments: Mapping[str, list[str]], path: str) -> bool:
    inside = any(name.startswith(f"{path}.") for name in comments)
    return not inside and _is_flat(value) and len(flow_text(value)) <= _SHORT


def _is_flat(value: Any) -> bool:
    """Returns true for a collection without texts of several lines."""
    if isinstance(value, dict | list):
        return all(map(_is_flat, value.values() if isinstance(value, dict) else value))
    return not (isinstance(value, str) and "\n" in value)
