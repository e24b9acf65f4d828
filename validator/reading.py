"""YAML and JSON text to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from validator.source import Document, EmbeddedDocument, Place, Source

if TYPE_CHECKING:
    from yaml import Node


class BrokenText(NamedTuple):
    """Why a text could not be read, and where (counted from 1)."""

    message: str
    line: int
    column: int


def read(source: Source) -> tuple[list[Document], list[BrokenText]]:
    """All documents of a file that can be read, and what keeps the others from it."""
    from validator import parsing

    return parsing.read(source)


def root(source: Source, index: int) -> Node | None:
    """The root node of the document with this index, among all that can be parsed."""
    from validator import parsing

    roots = parsing.roots(source)
    return roots[index] if index < len(roots) else None


def embedded(host: Place, text: str) -> EmbeddedDocument | BrokenText:
    """The document that a scalar holds, or why it holds none."""
    documents, broken = read(Source(host.document.source.name, text))
    if broken:
        return broken[0]
    if not documents:
        return BrokenText("it is empty", 1, 1)
    return EmbeddedDocument(host, documents[0])
