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


# The documents within scalars: several rules and loaders ask for the same text. All scalars of a file of one mebibyte
# stay known until the file is judged.
_embedded: dict[tuple[str, str], Document | BrokenText] = {}
_MOST_EMBEDDED = 1 << 20
_length = 0


def embedded(host: Place, text: str) -> EmbeddedDocument | BrokenText:
    """Returns the document within a scalar, or the reason why there is none."""
    name = host.document.source.name
    found = _embedded.get((name, text)) or _read_embedded(name, text)
    return found if isinstance(found, BrokenText) else EmbeddedDocument(host, found)


def embedded_mapping(host: Place, text: str) -> EmbeddedDocument | None:
    """Returns the document within a scalar if it is a mapping, else None."""
    found = embedded(host, text)
    return None if isinstance(found, BrokenText) or not isinstance(found.tree, dict) else found


def _read_embedded(name: str, text: str) -> Document | BrokenText:
    global _length
    documents, broken = read(Excerpt(name, text))
    _length += len(text)
    if _length > _MOST_EMBEDDED:
        _embedded.clear()
        _length = len(text)
    found = broken[0] if broken else documents[0] if documents else BrokenText("it is empty", 1, 1)
    _embedded[name, text] = found
    return found
