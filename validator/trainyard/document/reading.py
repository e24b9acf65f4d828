"""Reads YAML and JSON text as documents."""

from __future__ import annotations

from trainyard.document.document import Document, EmbeddedDocument, Place
from trainyard.document.source import BrokenText, Excerpt, Source


def read(source: Source) -> tuple[list[Document], list[BrokenText]]:
    """Returns all readable documents of a file, and the reasons why the others are not."""
    # PyYAML is imported only for files that the fast parser refuses.
    from trainyard.document import yaml_nodes

    trees, broken = yaml_nodes.trees(source)
    return [Document(source, *tree) for tree in trees], broken


def embedded(host: Place, text: str) -> EmbeddedDocument | BrokenText:
    """Returns the document within a scalar, or the reason why there is none."""
    documents, broken = read(Excerpt(host.document.source.name, text))
    if broken:
        return broken[0]
    if not documents:
        return BrokenText("it is empty", 1, 1)
    return EmbeddedDocument(host, documents[0])
