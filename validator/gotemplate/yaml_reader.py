"""Parses YAML to nodes with marks and to plain data, as Helm and kubectl do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import AliasEvent, CollectionEndEvent, CollectionStartEvent, MappingNode, Mark, Node, ScalarNode
from yaml.composer import Composer, ComposerError
from yaml.scanner import ScannerError

from gotemplate.construct import MAX_DEPTH, Builder, UnusableError

# A node takes most of a kilobyte of memory. One mebibyte of manifest has half as many nodes as this.
_MAX_NODES = 200_000

# libyaml composes recursively in C. A megabyte of brackets or dashes would overflow its stack.
_MAX_OPEN_BRACKETS = 1_000
_BRACKET = re.compile(r"[\[\]{}]")
# The beginning of a document ends all nesting for libyaml.
_DOCUMENT = re.compile(r"^---(?![^ \t\r\n])", re.MULTILINE)
# Levels that begin on one line. Short lines cannot nest deep enough for an overflow: each level is a column further.
_COMPACT = re.compile(r"(?:---)?[ ]*((?:[-?:][ \t]+)+)")
_MAX_COLUMN = 5_000
_OTHER_BREAK = re.compile("[\r\x85\u2028\u2029]")

# libyaml's composer. A PyYAML that was built without it gives the same documents more slowly.
COMPOSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Loader(COMPOSER):  # type: ignore[misc]
    """Composes nodes without PyYAML's resolver, which takes longer than parsing: `scalar` resolves plain scalars."""

    nodes: int

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
        """Leaves the tag to `scalar`, and counts nodes."""
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise UnusableError(f"it has more than {_MAX_NODES:,} nodes")
        return ""

    # Paths are not resolved. A function of C that accepts any arguments takes a third of the time of one of Python.
    descend_resolver = ascend_resolver = "".format


# What go-yaml reads otherwise than libyaml, in a text and at the start of a node.
_RARE_ESCAPE = "\\/"
# A pattern that begins with a plain character is searched for many times as fast as one that begins with a condition.
_RARE_TAG = re.compile(r"!(?<![^\s\[{,:-]!)(?!\S)")
_STRING = re.compile(r"(?:&\S+\s+)?!(?!\S)")
_ESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_STRING_TAG = "tag:yaml.org,2002:str"


# Without libyaml, PyYAML's own composer is a base of the loader already.
_BASES: Any = (Loader,) if issubclass(Loader, Composer) else (Composer, Loader)


class _Reusing(*_BASES):  # type: ignore[misc]
    """Composes documents in which an anchor is set again, which libyaml's composer refuses, in three times the time."""

    def __init__(self, text: str) -> None:
        Loader.__init__(self, text)  # type: ignore[call-arg]
        Composer.__init__(self)

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Returns the next node. Its anchor replaces an equal one: later aliases refer to the last one before them."""
        if not self.check_event(AliasEvent):
            self.anchors.pop(self.peek_event().anchor, None)
        node: Node | None = super().compose_node(parent, index)
        return node


def compose(text: str) -> Iterator[Node]:
    """Yields the root nodes of a text. Raises the errors of PyYAML, and `UnusableError`."""
    rare = _RARE_ESCAPE in text or _RARE_TAG.search(text) is not None
    for node in _roots(text):
        if rare:
            _read_as_go(node, text)
        yield node


def _roots(text: str) -> Iterator[Node]:
    count = 0
    try:
        for node in _composed(Loader(text)):
            count += 1
            yield node
    except ComposerError as error:
        if error.problem != "second occurrence":
            raise
    else:
        return
    yield from itertools.islice(_composed(_Reusing(text)), count, None)


def _composed(loader: Loader) -> Iterator[Node]:
    while loader.check_node():
        loader.nodes = 0
        yield loader.get_node()


def _read_as_go(root: Node, text: str) -> None:
    """Gives a plain scalar with the tag `!` the tag of a string, and refuses the escape of a slash outside JSON.

    The scanner of libyaml takes that escape, and its parser drops the tag. Go-yaml does neither (`scannerc.go` and
    `decode.go` of go.yaml.in/yaml/v2).
    """
    is_json = text.lstrip().startswith("{")
    seen: set[int] = set()
    nodes: list[Any] = [root]
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, ScalarNode):
            nodes.extend(itertools.chain(*node.value) if isinstance(node, MappingNode) else node.value)
        elif node.style == '"' and not is_json:
            _check_escapes(node, text[node.start_mark.index : node.end_mark.index])
        elif not node.style and not node.tag and _STRING.match(text, node.start_mark.index):
            node.tag = _STRING_TAG


def _check_escapes(node: Node, written: str) -> None:
    match = _ESCAPED_SLASH.search(written)
    if match is None:
        return
    before, mark = written[: match.end() - 2], node.start_mark
    line = before.count("\n")
    column = len(before) - before.rfind("\n") - 1 if line else mark.column + len(before)
    where = Mark(mark.name, mark.index + len(before), mark.line + line, column, None, 0)
    raise ScannerError(None, None, "unknown escape character `\\/`; write `/`", where)


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
    for root in compose(text):
        data = Builder().build(root, (), 0)
        if data is not None:
            yield data, root


def load_document(text: str) -> Any:
    """Returns the data of a single document, None if the text has none. Raises `BrokenError`."""
    found = load_documents(text)
    return found[0][0] if found else None


def too_deep(text: str) -> int | None:
    """Returns the line at which a text is nested too deep to be parsed safely, None if there is none."""
    if text.count("[") + text.count("{") <= _MAX_OPEN_BRACKETS and _suspect(text) is None:
        return None
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    for start, end in itertools.pairwise(starts):
        document = text[start:end]
        line = _suspect(document)
        if line is not None and (line := _deep_line(document, line)) is not None:
            return text.count("\n", 0, start) + line
    return None


def _suspect(document: str) -> int | None:
    """Returns the line at which a document is too deep if none of its brackets and dashes is in a text or a comment."""
    for number, line in enumerate(document.split("\n"), 1):
        if len(line) >= 2 * MAX_DEPTH and any(map(_is_deep, _OTHER_BREAK.split(line))):
            return number
    if document.count("[") + document.count("{") > _MAX_OPEN_BRACKETS:
        depth = 0
        for match in _BRACKET.finditer(document):
            depth = depth + 1 if match.group() in "[{" else max(0, depth - 1)
            if depth > _MAX_OPEN_BRACKETS:
                return document.count("\n", 0, match.start()) + 1
    return None


def _deep_line(document: str, suspect: int) -> int | None:
    """Returns the line at which a document is too deep, None if it is not; `suspect` for one with an error.

    Libyaml reads events without recursion, unlike nodes.
    """
    depth = 0
    try:
        loader = COMPOSER(document)
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, CollectionStartEvent):
                depth += 1
                if depth >= MAX_DEPTH:
                    mark: Any = event.start_mark
                    return int(mark.line) + 1
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
    # What follows an error is not known, and the error may be that the directives stand before this part of the text.
    except (yaml.YAMLError, ValueError):
        return suspect
    return None


def _is_deep(line: str) -> bool:
    found = _COMPACT.match(line)
    return found is not None and (len(found[1].split()) >= MAX_DEPTH or found.end() > _MAX_COLUMN)
