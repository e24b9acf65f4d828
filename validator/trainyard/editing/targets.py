"""The document in which an edit is made."""

from __future__ import annotations

from trainyard.document.document import Document, Edit, EmbeddedDocument


def edited_document(edit: Edit) -> Document:
    """Returns the document of a file that an edit changes."""
    document = edit.at.document
    while isinstance(document, EmbeddedDocument):
        document = document.host.document
    return document
