"""Parses any YAML and JSON text to nodes with marks and to plain data."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import Node

from gotemplate.construct import MAX_DEPTH, Builder, UnusableError
from gotemplate.yaml_reader import COMPOSER, compose, too_deep
from trainyard.document.budget import MOST_PARTS, PARTS_OF_AN_OBJECT, Budget
from trainyard.document.source import BrokenText, Excerpt, Path, Source
from trainyard.startup import NamedTuple, pattern


class Tree(NamedTuple):
    """The data of a document; `repeated` are the paths of duplicate keys."""

    number: int
    data: Any
    repeated: tuple[Path, ...]


# Cache of the last files' nodes. Thousands of excerpts and other small texts must not displace a large file, which
# would be parsed again for each finding. The nodes of an even larger text would take too much memory beside its tree.
_Recent = deque[tuple[Source, tuple[Node, ...]]]
_recent_small: _Recent = deque(maxlen=8)
_recent: _Recent = deque(maxlen=2)
_SMALL = 2**14
_MAX_KEPT = 2**20
_DOCUMENT_START = pattern(r"^---(?=\s|$)", re.MULTILINE)
# After this many broken documents, further ones tell the user nothing new.
_MAX_BROKEN = 20


def trees(source: Source) -> tuple[list[Tree], list[BrokenText]]:
    """Returns the data of all readable documents of a file, and the reasons why the others are not."""
    found: list[Tree] = []
    broken: list[BrokenText] = []
    nodes: list[Node] = []
    budget = Budget(source.text)
    keep = len(source.text) <= _MAX_KEPT and not isinstance(source, Excerpt)
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
        if tree is None:
            continue
        end = budget.take(tree)
        if end != ():
            found.append(Tree(number, tree, tuple(builder.repeated)))
        if end is not None:
            broken.append(_too_much(node, end))
            break
    if keep:
        _keep(source, tuple(nodes))
    return found, broken


def _too_much(node: Node, end: Path) -> BrokenText:
    """Returns the place and the words for the object at which the budget of a file ends."""
    message = (
        "the file has too many objects, roles and containers, and is not checked from here on: put the rest into "
        f"another file (a mebibyte may have {MOST_PARTS:,}; an object counts as {PARTS_OF_AN_OBJECT} of them)"
    )
    if end:
        items = next((value for key, value in reversed(node.value) if key.value == end[0]), None)
        # Merge keys may hold the list.
        node = node if items is None else items.value[end[1]]
    mark: Any = node.start_mark
    return BrokenText(message, mark.line + 1, mark.column + 1)


def roots(source: Source) -> tuple[Node, ...]:
    """Returns the root nodes of a file's documents, parsed again unless in the cache: findings come file by file."""
    for known, nodes in (*_recent_small, *_recent):
        if known is source:
            return nodes
    nodes = tuple(_roots(source.text, []))
    if not isinstance(source, Excerpt):
        _keep(source, nodes)
    return nodes


def _keep(source: Source, nodes: tuple[Node, ...]) -> None:
    recent = _recent_small if len(source.text) <= _SMALL else _recent
    recent.append((source, nodes))


def _roots(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    line = too_deep(text)
    if line is not None:
        broken.append(BrokenText(f"it is nested more than {MAX_DEPTH} levels deep", line, 1))
        return
    begin: int | None = 0
    while begin is not None and len(broken) < _MAX_BROKEN:
        before = len(broken)
        yield from _roots_until_broken(_blanked(text, begin), broken)
        begin = _next_document(text, broken[-1].line, begin) if len(broken) > before else None


def _roots_until_broken(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    count = last = 0
    try:
        for node in compose(text):
            count += 1
            last = node.end_mark.line + 1
            yield node
    except yaml.reader.ReaderError as error:
        # The parser reads text in large chunks: an invalid character breaks all documents of its chunk.
        before = _before(text, error.position)
        start = max((match.start() for match in _DOCUMENT_START.finditer(before)), default=0)
        yield from itertools.islice(_roots(text[:start], broken), count, None)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        broken.append(BrokenText(str(error).split("\n", maxsplit=1)[0], line, column))
    except yaml.MarkedYAMLError as error:
        mark, problem = _told(error, text)
        where = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        broken.append(BrokenText(problem, *where))
    except (yaml.YAMLError, UnusableError, ValueError, RecursionError) as error:
        broken.append(BrokenText(str(error).split("\n", maxsplit=1)[0], last + 1, 1))


def _told(error: yaml.MarkedYAMLError, text: str) -> tuple[yaml.error.Mark | None, str]:
    """Returns the place and the words of a mistake: that of a sign that opens without an end, not of the text's end."""
    start, end, problem = error.context_mark, error.problem_mark, str(error.problem or error.context)
    if start is None or end is None or start.line >= end.line:
        return end or start, problem
    context = str(error.context or "")
    if "quoted scalar" in context:
        return start, f"the quote that begins here has no end: {problem}"
    written = text.split("\n")
    if "flow" in context and end.line < len(written):
        opened, ended = written[start.line], written[end.line]
        is_key = len(opened.strip()) > 1 and ended.strip()[:1] not in "]}"
        if is_key and len(ended) - len(ended.lstrip()) <= len(opened) - len(opened.lstrip()):
            return start, f"the bracket that opens here has no end: {problem}"
    return end, problem


def _before(text: str, position: int) -> str:
    """Returns the text before a position, which libyaml counts in bytes."""
    if COMPOSER is yaml.BaseLoader:
        return text[:position]
    return text.encode()[:position].decode(errors="ignore")


def _next_document(text: str, line: int, begin: int) -> int | None:
    """Returns the offset of the first document after a line, and after the one that begins at `begin`."""
    start = begin
    for _ in range(line - 1 - text.count("\n", 0, begin)):
        start = text.find("\n", start) + 1
        if not start:
            return None  # the line after the last one, where a text that was cut off breaks
    match = _DOCUMENT_START.search(text, max(start, begin + 1))
    return None if match is None else match.start()


def _blanked(text: str, begin: int) -> str:
    """Returns the text from `begin` on, after blanks, so that marks keep their positions."""
    lines = text.count("\n", 0, begin)
    return " " * (begin - lines) + "\n" * lines + text[begin:]
