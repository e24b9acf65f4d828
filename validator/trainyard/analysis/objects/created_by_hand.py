"""Objects that a command creates: `kubectl create secret generic NAME` in a script, a Makefile or a manual.

The file lies beside the one that refers to the object, or in the folder above, or the text stands in the file itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.document import opening
from trainyard.document.disk_answers import remembered
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.document.document import Place

_ENDS = (".sh", ".bash", ".md", "Makefile", "justfile", "Taskfile.yml", "Taskfile.yaml")
_LINES = pattern(r"^.*\bcreate\b.*$", re.MULTILINE)
# Larger files are no scripts, and a folder of more is a library.
_MAX_BYTES = 256 * 1024
_MOST = 32


def is_created_by_hand(at: Place, name: str) -> bool:
    """True if a command in or near the file of a place creates an object of this name."""
    source = at.document.source
    if _creates(source.text, name):
        return True
    if not os.path.isfile(source.name):
        return False
    folder = os.path.dirname(source.name)
    above = os.path.dirname(folder)
    return any(_creates(_commands(one), name) for one in dict.fromkeys((folder, above)))


def _creates(text: str, name: str) -> bool:
    if name not in text:
        return False
    whole = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    return any(whole.search(line) for line in _LINES.findall(text) if name in line)


@remembered
def _commands(folder: str) -> str:
    """Returns the lines that create something in the scripts and manuals of a folder."""
    return "\n".join(line for text in _texts(folder) for line in _LINES.findall(text))


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
