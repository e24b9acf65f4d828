"""Hypothesis strategies for YAML texts: trees in all layouts that an edit must preserve."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from trainyard.editing.writing import is_plain

KEYS = st.sampled_from(["name", "env", "limits", "a b", "nvidia.com/gpu", "on", "1", "value", "x-y", "sizeLimit"])
WORDS = st.sampled_from(
    ["train", "8", "true", "", "it's", 'a "b"', "a: b", "# no", "x,y", "^docker0,lo", "grün 🚂", "-x", "*a", "null"]
)
SCRIPTS = st.sampled_from(["set -e\nrun\n", "one\n\n  two # 2\nthree", "echo 'a: b'\n"])
SCALARS = st.none() | st.booleans() | st.integers(-9, 99) | WORDS | SCRIPTS


def trees(depth: int = 3) -> st.SearchStrategy[Any]:
    """Mappings of mappings, lists and scalars."""
    inner: st.SearchStrategy[Any] = SCALARS
    for _ in range(depth):
        inner = SCALARS | st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=3)
    return st.dictionaries(KEYS, inner, min_size=1, max_size=4)


@st.composite
def documents(draw: Callable[[Any], Any]) -> tuple[str, Any]:
    """A text, and the tree that it contains."""
    tree = draw(trees())
    return _Writer(draw).document(tree), tree


class _Writer:
    """Writes a tree; Hypothesis draws each choice of the layout."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self._comments = 0
        self._in_script = False

    def document(self, tree: Any) -> str:
        as_json = self._maybe(8)
        lines = json.dumps(tree, indent=2, ensure_ascii=False).split("\n") if as_json else self._mapping(tree, 0)
        newline = self._draw(st.sampled_from(["\n", "\n", "\r\n"]))
        # A block scalar at the end needs the end of its last line.
        end = newline if self._in_script or not self._maybe(3) else ""
        return str(newline.join(lines) + end)

    def _maybe(self, one_in: int) -> bool:
        return bool(self._draw(st.integers(1, one_in)) == 1)

    def _comment(self) -> str:
        self._comments += 1
        return f"# comment {self._comments}, it's {{here}}: - x"

    def _behind(self) -> str:
        return f"  {self._comment()}" if self._maybe(4) else ""

    def _above(self, indent: int) -> list[str]:
        lines = [""] if self._maybe(8) else []
        return [*lines, " " * indent + self._comment()] if self._maybe(6) else lines

    def _mapping(self, tree: dict[str, Any], indent: int) -> list[str]:
        result: list[str] = []
        for key, value in tree.items():
            result += self._above(indent) + self._field(self._scalar(key), value, indent)
        return result

    def _field(self, key: str, value: Any, indent: int) -> list[str]:
        margin = " " * indent
        if isinstance(value, dict | list) and value and not self._maybe(4):
            step = 0 if isinstance(value, list) and self._maybe(2) else self._draw(st.sampled_from([2, 2, 4]))
            return [f"{margin}{key}:{self._behind()}", *self._block(value, indent + step)]
        first, *rest = self._value(value)
        return [f"{margin}{key}:{' ' * bool(first)}{first}", *(margin + line if line else "" for line in rest)]

    def _block(self, value: Any, indent: int) -> list[str]:
        return self._mapping(value, indent) if isinstance(value, dict) else self._list(value, indent)

    def _list(self, items: list[Any], indent: int) -> list[str]:
        result: list[str] = []
        for item in items:
            above = self._above(indent)
            if isinstance(item, dict | list) and item and not self._maybe(4):
                inner = self._block(item, indent + 2)
                if inner[0].strip() and not inner[0].lstrip().startswith("#"):
                    inner[0] = f"{' ' * indent}- {inner[0].lstrip()}"
                else:
                    inner.insert(0, f"{' ' * indent}-")
                result += above + inner
                continue
            first, *rest = self._value(item)
            result += [*above, f"{' ' * indent}-{' ' * bool(first)}{first}"]
            result += [" " * indent + line if line else "" for line in rest]
        return result

    def _value(self, value: Any) -> list[str]:
        """Return the lines of a value that starts on the line of its key; further lines are indented by at least 2."""
        if isinstance(value, str) and "\n" in value:
            lines = value.split("\n")
            self._in_script = not self._maybe(3)
            if self._in_script:
                mark = "|" if value.endswith("\n") else "|-"
                return [
                    f"{mark}{self._behind()}",
                    *(f"  {line}" if line else "" for line in lines if line or lines[-1]),
                ]
            return [json.dumps(value, ensure_ascii=False) + self._behind()]
        if isinstance(value, dict | list):
            return self._flow(value)
        text = self._scalar(value)
        self._in_script = False
        return [text + (self._behind() if text else "")]

    def _flow(self, value: Any) -> list[str]:
        self._in_script = False
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        parts = [self._part(item) for item in (value.items() if isinstance(value, dict) else value)]
        comma = "," if parts and self._maybe(4) else ""
        if parts and self._maybe(3):
            return [opening, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}{comma}", f"  {closing}"]
        blank = " " if self._maybe(3) else ""
        return [f"{opening}{blank}{', '.join(parts)}{comma}{blank}{closing}{self._behind()}"]

    def _part(self, item: Any) -> str:
        if isinstance(item, tuple):
            return f"{self._scalar(item[0])}: {self._part(item[1])}"
        if isinstance(item, dict | list):
            opening, closing = "{}" if isinstance(item, dict) else "[]"
            inner = item.items() if isinstance(item, dict) else item
            return f"{opening}{', '.join(map(self._part, inner))}{closing}"
        return "null" if item is None else self._scalar(item)

    def _scalar(self, value: Any) -> str:
        if value is None:
            return str(self._draw(st.sampled_from(["", "null", "~"])))
        if not isinstance(value, str):
            return json.dumps(value)
        styles = [json.dumps(value, ensure_ascii=False)]
        styles += [value] if is_plain(value) else []
        styles += ["'" + value.replace("'", "''") + "'"] if "\n" not in value else []
        return str(self._draw(st.sampled_from(styles)))
