"""Parses any YAML and JSON text to nodes with marks and to plain data."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from yaml import Node

from gotemplate.construct import MAX_DEPTH, Builder, UnusableError
from gotemplate.yaml_reader import COMPOSER, Loader, too_deep
from trainyard.document.source import BrokenText, Path, Source


class Tree(NamedTuple):
    """The data of a document; `repeated` are the paths of duplicate keys."""

    number: int
    data: Any
    repeated: tuple[Path, ...]


# Cache of the last files' nodes. The nodes of a large text would take too much memory beside its tree.
_recent: deque[tuple[Source, tuple[Node, ...]]] = deque(maxlen=2)
_MAX_KEPT = 2**20
_DOCUMENT_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_BLANKED = re.compile(r"[^\n]")
# After this many broken documents, further ones tell the user nothing new.
_MAX_BROKEN = 20


def trees(source: Source) -> tuple[list[Tree], list[BrokenText]]:
    """Returns the data of all readable documents of a file, and the reasons why the others are not."""
    found: list[Tree] = []
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
            found.append(Tree(number, tree, tuple(builder.repeated)))
    if keep:
        _recent.append((source, tuple(nodes)))
    return found, broken


def roots(source: Source) -> tuple[Node, ...]:
    """Returns the root nodes of a file's documents, parsed again unless in the cache: findings come file by file."""
    for known, nodes in tuple(_recent):
        if known == source:
            return nodes
    nodes = tuple(_roots(source.text, []))
    _recent.append((source, nodes))
    return nodes


def _roots(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    line = too_deep(text)
    if line is not None:
        broken.append(BrokenText(f"it is nested more than {MAX_DEPTH} levels deep", line, 1))
        return
    rest: str | None = text
    while rest is not None and len(broken) < _MAX_BROKEN:
        before = len(broken)
        yield from _roots_until_broken(rest, broken)
        rest = _text_after(rest, broken[-1].line) if len(broken) > before else None


def _roots_until_broken(text: str, broken: list[BrokenText]) -> Iterator[Node]:
    count = 0
    try:
        loader = Loader(text)
        while loader.check_node():
            count += 1
            loader.nodes = 0
            yield loader.get_node()
    except yaml.reader.ReaderError as error:
        # The parser reads text in large chunks: an invalid character breaks all documents of its chunk.
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
    """Returns the text before a position, which libyaml counts in bytes."""
    if COMPOSER is yaml.BaseLoader:
        return text[:position]
    return text.encode()[:position].decode(errors="ignore")


def _text_after(text: str, line: int) -> str | None:
    """Returns the text from the first document after a line, padded with blanks so that marks keep their positions."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    match = _DOCUMENT_START.search(text, max(start, 1))
    if match is None:
        return None
    return _BLANKED.sub(" ", text[: match.start()]) + text[match.start() :]
