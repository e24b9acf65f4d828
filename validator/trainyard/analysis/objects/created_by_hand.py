"""Objects that a command creates: `kubectl create secret generic NAME` in a script, a Makefile or a manual.

The file lies beside the one that refers to the object, or in the folder above, or the text stands in the file itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from trainyard.document import opening
from trainyard.document.disk_answers import remembered
from trainyard.document.upwards import folders_of
from trainyard.model.last_index import LastIndex
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.document.document import Place
    from trainyard.document.source import Source

_ENDS = (".sh", ".bash", ".md", "Makefile", "justfile", "Taskfile.yml", "Taskfile.yaml")
_VERB = "create"
_NAME = pattern(r"[a-z0-9][a-z0-9.-]*")
# Larger files are no scripts, and a folder of more is a library.
_MAX_BYTES = 256 * 1024
_MOST = 32
_LEVELS = 2


def is_created_by_hand(at: Place, name: str) -> bool:
    """True if a command in or near the file of a place creates an object of this name."""
    source = at.document.source
    return name in _in_file.of(source) or any(name in _in_folder(one) for one in _folders.of(source))


def _names(text: str) -> frozenset[str]:
    """Returns the words of the lines that create something."""
    if _VERB not in text:
        return frozenset()
    return frozenset(word for line in text.split("\n") if _VERB in line for word in _NAME.findall(line))


@remembered
def _in_folder(folder: str) -> frozenset[str]:
    return frozenset(word for text in _texts(folder) for word in _names(text))


def _texts(folder: str) -> Iterator[str]:
    try:
        names = sorted(name for name in os.listdir(folder or os.curdir) if name.endswith(_ENDS))
    except OSError:
        return
    for name in names[:_MOST]:
        path = os.path.join(folder, name)
        try:
            if os.path.getsize(path) <= _MAX_BYTES:
                yield opening.read_found(path, folder or os.curdir).decode(errors="replace")
        except OSError:
            continue


def _find_folders(source: Source) -> tuple[str, ...]:
    """Returns the folder of a file and the one above, if it is linted too; none for a text that is no file."""
    return tuple(islice(folders_of(source), _LEVELS)) if os.path.isfile(source.name) else ()


def _find_in_file(source: Source) -> frozenset[str]:
    return _names(source.text)


# Rules ask for each reference of a file.
_in_file: LastIndex[Source, frozenset[str]] = LastIndex(_find_in_file)
_folders: LastIndex[Source, tuple[str, ...]] = LastIndex(_find_folders)
