"""Parses YAML to nodes with marks and to plain data, as Helm and kubectl do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import Node

from gotemplate.construct import MAX_DEPTH, Builder, UnusableError

# A node takes most of a kilobyte of memory. One mebibyte of manifest has half as many nodes as this.
_MAX_NODES = 200_000

# libyaml composes recursively in C. A megabyte of brackets or dashes would overflow its stack.
_MAX_OPEN_BRACKETS = 1_000
_BRACKET = re.compile(r"[\[\]{}]")
_COMPACT_NESTING = re.compile(rf"^(?:---)?[ ]*(?:[-?:][ \t]+){{{MAX_DEPTH}}}", re.MULTILINE)

# libyaml's composer. A PyYAML that was built without it gives the same documents more slowly.
COMPOSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Loader(COMPOSER):  # type: ignore[misc]
    """Composes nodes without PyYAML's resolver, which takes longer than parsing: `scalar` resolves plain scalars."""

    nodes = 0

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
        """Leaves the tag to `scalar`, and counts nodes."""
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise UnusableError(f"it has more than {_MAX_NODES:,} nodes")
        return ""

    def descend_resolver(self, parent: Node | None, index: Any) -> None:
        """Does nothing: paths are not resolved."""

    def ascend_resolver(self) -> None:
        """Does nothing: paths are not resolved."""


class BrokenError(Exception):
    """A text that is not valid YAML: the reason, and the line, counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def load_documents(text: str) -> list[tuple[Any, Node]]:
    """Returns the non-empty documents of a text, each with its root node. Raises `BrokenError`."""
    line = too_deep(text)
    if line is not None:
        raise BrokenError(f"it is nested more than {MAX_DEPTH} levels deep", line)
    try:
        return list(_documents(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenError(str(error.problem or error.context), mark.line + 1 if mark is not None else 1) from None
    except (yaml.YAMLError, UnusableError, ValueError, RecursionError) as error:
        raise BrokenError(str(error).split("\n", maxsplit=1)[0], 1) from None


def _documents(text: str) -> Iterator[tuple[Any, Node]]:
    loader = Loader(text)
    while loader.check_node():
        loader.nodes = 0
        root = loader.get_node()
        data = Builder().build(root, (), 0)
        if data is not None:
            yield data, root


def load_document(text: str) -> Any:
    """Returns the data of a single document, None if the text has none. Raises `BrokenError`."""
    found = load_documents(text)
    return found[0][0] if found else None


def too_deep(text: str) -> int | None:
    """Returns the line at which a text is nested too deep to be parsed safely, None if there is none."""
    compact = _COMPACT_NESTING.search(text)
    if compact is not None:
        return text.count("\n", 0, compact.start()) + 1
    if text.count("[") + text.count("{") > _MAX_OPEN_BRACKETS:
        depth = 0
        for match in _BRACKET.finditer(text):
            depth = depth + 1 if match.group() in "[{" else max(0, depth - 1)
            if depth > _MAX_OPEN_BRACKETS:
                return text.count("\n", 0, match.start()) + 1
    return None
