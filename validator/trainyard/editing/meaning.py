"""Checks the meaning of a text after edits: the old data, edited."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from trainyard.document.document import Add, Append, Edit, Remove, Rename, SetValue, Substitute
from trainyard.document.reading import read
from trainyard.document.source import Path, Source
from trainyard.document.text import Text
from trainyard.editing.layout import Rewrite

_GONE = object()


def has_meaning(source: Source, edits: Iterable[Edit | Rewrite], text: str) -> bool:
    """True if the new text holds the documents of the old one with the edits made, and nothing else."""
    before, broken = read(source)
    after, broken_after = read(Source(source.name, text))
    if len(broken_after) != len(broken):
        return False
    try:
        # A shared copy: aliases of one node stay shared, and change together.
        trees = copy.deepcopy({document.index: document.tree for document in before})
        # Paths are those of the old data, so renames come last, and outer keys after inner ones.
        for edit in sorted(edits, key=lambda edit: (isinstance(edit, Rename), -len(edit.at.path))):
            if not isinstance(edit.at.document, Text):
                _edit(trees, (edit.at.document.index, *edit.at.path), edit)
        return _equal(_without_removed(trees), {document.index: document.tree for document in after})
    except (LookupError, TypeError, AttributeError, RecursionError):
        return False


def _edit(trees: Any, path: Path, edit: Edit | Rewrite) -> None:
    if isinstance(edit, Add):
        _ensured(trees, path)[edit.key] = copy.deepcopy(edit.value)
        return
    if isinstance(edit, Append):
        _ensured(trees, path, list).append(copy.deepcopy(edit.value))
        return
    parent, last = _at(trees, path[:-1]), path[-1]
    old = parent[last]
    if isinstance(edit, SetValue):
        parent[last] = edit.value
    elif isinstance(edit, Remove):
        parent[last] = _GONE
    elif isinstance(edit, Rename):
        parent[edit.key] = parent.pop(last)
    elif isinstance(edit, Substitute):
        parent[last] = _substituted(old, edit)
    else:
        parent[last] = edit.text.rstrip("\n") + old[len(old.rstrip("\n")) :]


def _substituted(old: str, edit: Substitute) -> str:
    lines = old.split("\n")
    number = edit.at.line - 1
    # Lines of a folded scalar differ from those of its text: the edit must then be at the first occurrence.
    if 0 <= number < len(lines) and edit.old in lines[number]:
        lines[number] = lines[number].replace(edit.old, edit.new, 1)
        return "\n".join(lines)
    return old.replace(edit.old, edit.new, 1)


def _at(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _ensured(tree: Any, path: Path, kind: type = dict) -> Any:
    """Returns the value at the path; if there is none, inserts and returns an empty mapping or list."""
    for number, step in enumerate(path):
        wanted = kind if number == len(path) - 1 else dict
        found = tree.get(step) if isinstance(tree, dict) else tree[step]
        if found is None:
            found = tree[step] = wanted()
        tree = found
    return tree


def _without_removed(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_removed(value) for key, value in tree.items() if value is not _GONE}
    if isinstance(tree, list):
        return [_without_removed(value) for value in tree if value is not _GONE]
    return tree


def _equal(one: Any, other: Any) -> bool:
    """True if both are equal and of the same types: `1`, `1.0`, `true` and "1" are four values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one is other or one == other)
