"""YAML and JSON text to documents."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from validator.scalars import scalar
from validator.source import Document, EmbeddedDocument, Path, Place, Source

# libyaml's composer; where PyYAML was built without it the same documents come more slowly.
_Composer: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(_Composer):  # type: ignore[misc]
    """Composes nodes without PyYAML's resolver, which takes longer than parsing: `scalar` resolves what is plain."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
        return ""

    def descend_resolver(self, parent: Node | None, index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


_STRING = "tag:yaml.org,2002:str"

# One mebibyte of manifest has some 10^5 nodes; aliases and merge keys can make a thousand bytes expand to more than
# memory holds, so what expands beyond this is refused. go-yaml, which Kubernetes reads with, begins to refuse here too.
MAX_EXPANDED = 400_000
MAX_DEPTH = 200

# libyaml composes by recursion in C and would overflow the stack on a megabyte of brackets or dashes.
_MAX_OPEN_BRACKETS = 1_000
_BRACKET = re.compile(r"[\[\]{}]")
_DOCUMENT_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_BLANKED = re.compile(r"[^\n]")
# After this many broken documents nothing more is to be learnt from a file.
_MAX_BROKEN = 20
_COMPACT_NESTING = re.compile(rf"^(?:---)?[ ]*(?:[-?:][ \t]+){{{MAX_DEPTH}}}", re.MULTILINE)


class BrokenText(NamedTuple):
    """Why a text could not be read, and where (counted from 1)."""

    message: str
    line: int
    column: int


class UnusableError(Exception):
    """A document that is well-formed and yet cannot be used; `args[0]` says why."""


def read(source: Source) -> tuple[list[Document], list[BrokenText]]:
    """All documents of a file that can be read, and what keeps the others from it."""
    documents: list[Document] = []
    broken: list[BrokenText] = []
    for number, node in enumerate(_roots(source.text, broken)):
        builder = _Builder()
        try:
            tree = builder.build(node, (), 0)
        except UnusableError as error:
            mark = node.start_mark
            broken.append(BrokenText(str(error), mark.line + 1, mark.column + 1))
            continue
        if tree is not None:
            documents.append(Document(source, number, tree, tuple(builder.repeated)))
    return documents, broken


def root(source: Source, index: int) -> Node | None:
    """The root node of the document with this index, among all that can be parsed."""
    roots = _all_roots(source)
    return roots[index] if index < len(roots) else None


@functools.lru_cache(maxsize=2)
def _all_roots(source: Source) -> tuple[Node, ...]:
    """All documents' roots of the files that were last asked for: most findings of a run are in few files."""
    return tuple(_roots(source.text, []))


def embedded(host: Place, text: str) -> EmbeddedDocument | BrokenText:
    """The document that a scalar holds, or why it holds none."""
    documents, broken = read(Source(host.document.source.name, text))
    if broken:
        return broken[0]
    if not documents:
        return BrokenText("it is empty", 1, 1)
    return EmbeddedDocument(host, documents[0])


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
    except (yaml.YAMLError, ValueError, RecursionError) as error:
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


class _Extent(NamedTuple):
    """How many nodes there are below one, what its aliases stand for included, and how deep they are nested."""

    nodes: int
    height: int


class _Builder:
    """Plain data from nodes. Aliased nodes are built once and shared; extents say what that is when written out."""

    def __init__(self) -> None:
        self.repeated: list[Path] = []
        self._built: dict[int, Any] = {}
        self._extents: dict[int, _Extent] = {}
        self._nodes = 0
        self._deepest = 0
        self._expanded = 0

    def build(self, node: Any, path: Path, depth: int) -> Any:
        if isinstance(node, ScalarNode):
            return node.value if node.style or node.tag == _STRING else scalar(node.value)
        known = self._built.get(id(node))
        if known is not None:
            self._expand(node, depth)
            return known
        _check_depth(depth)
        before, outside = self._nodes, self._deepest
        self._nodes, self._deepest = before + len(node.value), depth
        tree = self._collection(node, path, depth)
        self._extents[id(node)] = _Extent(self._nodes - before, self._deepest - depth)
        self._deepest = max(self._deepest, outside)
        return tree

    def _expand(self, node: Any, depth: int) -> None:
        extent = self._extents.get(id(node))
        if extent is None:
            raise UnusableError("an alias stands within what it names")
        _check_depth(depth + extent.height)
        self._deepest = max(self._deepest, depth + extent.height)
        self._nodes += extent.nodes
        self._count(extent.nodes)

    def _count(self, nodes: int) -> None:
        self._expanded += nodes
        if self._expanded > MAX_EXPANDED:
            raise UnusableError("its aliases and merge keys expand to more than can be read")

    def _collection(self, node: Any, path: Path, depth: int) -> Any:
        if isinstance(node, SequenceNode):
            items: list[Any] = []
            self._built[id(node)] = items
            for index, child in enumerate(node.value):
                items.append(self.build(child, (*path, index), depth + 1))
            return items
        fields: dict[str, Any] = {}
        self._built[id(node)] = fields
        self._fill(fields, node, path, depth)
        return fields

    def _fill(self, fields: dict[str, Any], node: MappingNode, path: Path, depth: int) -> None:
        merged: list[Node] = []
        for key, child in node.value:
            if not isinstance(key, ScalarNode):
                raise UnusableError("a mapping key is a list or a mapping; Kubernetes keys are strings")
            name = key.value
            if name == "<<" and not key.style:
                merged.append(child)
                continue
            if name in fields:
                self.repeated.append((*path, name))
            fields[name] = self.build(child, (*path, name), depth + 1)
        for child in merged:
            self._merge(fields, child, path, depth)

    def _merge(self, fields: dict[str, Any], node: Node, path: Path, depth: int) -> None:
        for source in node.value if isinstance(node, SequenceNode) else [node]:
            values = self.build(source, path, depth + 1)
            if not isinstance(values, dict):
                raise UnusableError("a merge key `<<` needs a mapping, or a list of mappings")
            self._count(len(values))
            for name, value in values.items():
                fields.setdefault(name, value)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UnusableError(f"it is nested more than {MAX_DEPTH} levels deep")
