"""YAML and JSON text to documents with places, whatever is in the text."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import Node

from validator.building import MAX_DEPTH, Builder, UnusableError
from validator.reading import BrokenText
from validator.source import Document, Source

# libyaml's composer; where PyYAML was built without it the same documents come more slowly.
_Composer: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(_Composer):  # type: ignore[misc]
    """Composes nodes without PyYAML's resolver, which takes longer than parsing: `scalar` resolves what is plain."""

    nodes = 0

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise UnusableError(f"it has more than {_MAX_NODES:,} nodes")
        return ""

    def descend_resolver(self, parent: Node | None, index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


# The last files with their nodes; of a larger text the nodes would take too much memory beside its tree.
_recent: deque[tuple[Source, tuple[Node, ...]]] = deque(maxlen=2)
_MAX_KEPT = 2**20
# A node takes most of a kilobyte. One mebibyte of manifest has half as many as this.
_MAX_NODES = 200_000

# libyaml composes by recursion in C and would overflow the stack on a megabyte of brackets or dashes.
_MAX_OPEN_BRACKETS = 1_000
_BRACKET = re.compile(r"[\[\]{}]")
_DOCUMENT_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_BLANKED = re.compile(r"[^\n]")
# After this many broken documents nothing more is to be learnt from a file.
_MAX_BROKEN = 20
_COMPACT_NESTING = re.compile(rf"^(?:---)?[ ]*(?:[-?:][ \t]+){{{MAX_DEPTH}}}", re.MULTILINE)


def read(source: Source) -> tuple[list[Document], list[BrokenText]]:
    """All documents of a file that can be read, and what keeps the others from it."""
    documents: list[Document] = []
    broken: list[BrokenText] = []
    nodes: list[Node] = []
    keep = len(source.text) <= _MAX_KEPT
    for number, node in enumerate(_roots(source.text, broken)):
        if keep:
            nodes.append(node)
        builder = Builder()
        try:
            tree = builder.build(node, (), 0)
        except UnusableError as error:
            mark = node.start_mark
            broken.append(BrokenText(str(error), mark.line + 1, mark.column + 1))
            continue
        if tree is not None:
            documents.append(Document(source, number, tree, tuple(builder.repeated)))
    if keep:
        _recent.append((source, tuple(nodes)))
    return documents, broken


def roots(source: Source) -> tuple[Node, ...]:
    """All documents' roots of a file, parsed again unless it is among the last ones: findings come file by file."""
    for known, nodes in tuple(_recent):
        if known == source:
            return nodes
    nodes = tuple(_roots(source.text, []))
    _recent.append((source, nodes))
    return nodes


def _roots(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    line = _too_deep(text)
    if line is not None:
        broken.append(BrokenText(f"it is nested more than {MAX_DEPTH} levels deep", line, 1))
        return
    rest: str | None = text
    while rest is not None and len(broken) < _MAX_BROKEN:
        before = len(broken)
        yield from _roots_until_broken(rest, broken)
        rest = _behind(rest, broken[-1].line) if len(broken) > before else None


def _roots_until_broken(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    count = 0
    try:
        loader = _Loader(text)
        while loader.check_node():
            count += 1
            loader.nodes = 0
            yield loader.get_node()
    except yaml.reader.ReaderError as error:
        # Text is taken in by large pieces: with one character, all documents of its piece are refused.
        before = _before(text, error.position)
        start = max((match.start() for match in _DOCUMENT_START.finditer(before)), default=0)
        yield from itertools.islice(_roots(text[:start], broken), count, None)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        broken.append(BrokenText(str(error).split("\n", maxsplit=1)[0], line, column))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        broken.append(BrokenText(str(error.problem or error.context), *where))
    except (yaml.YAMLError, UnusableError, ValueError, RecursionError) as error:
        broken.append(BrokenText(str(error).split("\n", maxsplit=1)[0], 1, 1))


def _before(text: str, position: int) -> str:
    """The text before a position, which libyaml counts in bytes."""
    if _Composer is yaml.BaseLoader:
        return text[:position]
    return text.encode()[:position].decode(errors="ignore")


def _behind(text: str, line: int) -> str | None:
    """The text from the first document behind a line; blanks stand for all before it, so that marks stay true."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    match = _DOCUMENT_START.search(text, max(start, 1))
    if match is None:
        return None
    return _BLANKED.sub(" ", text[: match.start()]) + text[match.start() :]


def _too_deep(text: str) -> int | None:
    """The line in which a text is nested too deep even to be parsed."""
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
