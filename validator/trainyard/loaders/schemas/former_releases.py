"""Folders with the files of several releases of one program: those of former ones are for clusters of their time."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from trainyard.document.disk_answers import remembered
from trainyard.document.upwards import folders_of

if TYPE_CHECKING:
    from trainyard.document.source import Source

# A candidate for a release counts as the release.
_RELEASE = re.compile(r"v?([0-9]+(?:\.[0-9]+)+)(?:-?(?:rc|alpha|beta)[.-]?[0-9]*)?")


def is_of_former_release(source: Source) -> bool:
    """True if a folder of the file is named after a release, and one beside it after a newer one: `1.13` and `1.20`."""
    return any(
        own < _newest(parent)
        for folder, parent in pairwise(folders_of(source))
        if (own := _release(os.path.basename(folder)))
    )


def _release(name: str) -> tuple[int, ...]:
    found = _RELEASE.fullmatch(name)
    return tuple(map(int, found[1].split("."))) if found is not None else ()


@remembered
def _newest(folder: str) -> tuple[int, ...]:
    """Returns the newest release after which a folder in this one is named; empty without any."""
    with suppress(OSError):
        return max((_release(entry.name) for entry in os.scandir(folder or ".") if entry.is_dir()), default=())
    return ()
