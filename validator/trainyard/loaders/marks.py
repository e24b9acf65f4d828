"""Marks for the leaves of values: other values that can be recognised in a rendered text."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.document.source import Path
from trainyard.startup import NamedTuple, pattern

# More values than this are not traced; marks have four digits.
MAX_LEAVES = 2_000

# Lower case and digits survive names, labels and `lower`; no word contains these letters.
_MARK = pattern(r"zqx(\d{4})x")
_NUMBER = pattern(r"\d+")


class Leaf(NamedTuple):
    """A scalar, or an empty list or mapping, in the values. `number` identifies it in the marks."""

    path: Path
    value: Any
    number: int

    @property
    def is_text(self) -> bool:
        """True if another text is likely to change only the places where the text is written."""
        return isinstance(self.value, str) and bool(self.value)

    @property
    def is_count(self) -> bool:
        """True if another number is likely to change only the places where the number is written."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool) and self.value != 0


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields all leaves of a tree with their paths."""
    items: Any = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    if path and not items:
        yield path, tree
    for key, item in items:
        yield from leaves(item, (*path, key))


class Marks:
    """Unique marks for leaves, from which the original text can be restored."""

    def __init__(self, tree: Any, text: str) -> None:
        # Numbers of leaves that accept no large count: they become one more.
        self.gentle: set[int] = set()
        found = itertools.islice(leaves(tree), MAX_LEAVES)
        self.leaves = [Leaf(path, value, number) for number, (path, value) in enumerate(found)]
        present = set(_NUMBER.findall(text))
        count = len(self.leaves)
        # Counts become numbers of four digits: large enough to be unique, small enough for a loop over them.
        bases = (n for n in range(2000, 60_000, 500) if not present & {str(n + i) for i in range(count)})
        self._base = next(bases, 90_000)

    def changed(self, leaf: Leaf) -> Any:
        """Returns another value for a leaf."""
        mark, value = f"zqx{leaf.number:04d}x", leaf.value
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + 1 if leaf.number in self.gentle else self._base + leaf.number
        if isinstance(value, dict):
            return {mark: mark}
        if isinstance(value, list):
            return [mark]
        digits = _NUMBER.match(value or "")
        if digits:
            # A quantity, a version or a number in quotes stays one.
            return f"{self._base + leaf.number}{value[digits.end() :]}"
        text = value or ""
        behind = len(text.rstrip())
        return f"{text[:behind]}{mark}{text[behind:]}"

    def found(self, text: Any) -> tuple[list[Leaf], Any]:
        """Returns the leaves whose marks are in a rendered scalar, and the scalar with the original texts."""
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            return [], text
        known: list[Leaf] = []

        def unmarked(match: re.Match[str]) -> str:
            number = int(match[1])
            if number >= len(self.leaves):
                return match[0]
            known.append(self.leaves[number])
            return ""

        def restored(match: re.Match[str]) -> str:
            number = int(match[0]) - self._base
            if not 0 <= number < len(self.leaves) or len(match[0]) > 5:
                return match[0]
            leaf = self.leaves[number]
            known.append(leaf)
            written = leaf.value if isinstance(leaf.value, str) else f"{leaf.value:.17g}"
            return (_NUMBER.match(written) or match)[0] if isinstance(leaf.value, str) else written

        back = _NUMBER.sub(restored, _MARK.sub(unmarked, str(text)))
        return known, back if isinstance(text, str) else _as_number(back)


def _as_number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return float(text) if re.fullmatch(r"[-+.\deE]+", text) else text


def with_changes(own: Mapping[str, Any], merged: Any, changes: Sequence[tuple[Path, Any]]) -> dict[str, Any]:
    """Returns the user's values with changed leaves. A list is given as a whole: Helm does not merge lists."""
    values = copy.deepcopy(dict(own))
    for path, value in changes:
        node: Any = values
        source: Any = merged
        for step in path[:-1]:
            source = source[step]
            if isinstance(node, dict) and not isinstance(node.get(step), dict | list):
                node[step] = copy.deepcopy(source) if isinstance(source, list) else {}
            node = node[step]
        node[path[-1]] = value
    return values
