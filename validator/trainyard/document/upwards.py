"""The folders that a file is in, up to the one that is linted: nobody has asked for what lies above that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainyard.document.source import Source


def folders_of(source: Source) -> Iterator[str]:
    """Yields the folder of a file, and those above it up to the one that the user named.

    For a named file, that is the working directory, as for the same file in `lint .`.
    """
    folder = os.path.dirname(source.name)
    top = (source.folder or "").rstrip(os.sep)
    if source.folder is None and (os.path.isabs(folder) or folder.startswith(os.pardir)):
        top = folder
    yield folder
    while folder not in (top, "", os.pardir, above := os.path.dirname(folder)):
        folder = above
        yield folder
