"""Where an edit is made."""

from __future__ import annotations

from validator.rule import Edit
from validator.source import Document, EmbeddedDocument


def home(edit: Edit) -> Document:
    """The document of a file that an edit changes."""
    document = edit.at.document
    while isinstance(document, EmbeddedDocument):
        document = document.host.document
    return document
