"""Finds scripts that lie beside a manifest: an image is mostly built, and a ConfigMap created, from that folder."""

from __future__ import annotations

import os

from trainyard.document.source import Source

# Larger files are no scripts.
_MAX_BYTES = 1024 * 1024
_SCRIPTS = "scripts"


def find_script(name: str, path: str) -> Source | None:
    """Returns the script that a path in a container names; None if no file, or more than one, may be meant.

    It lies in the folder of the manifest, in a folder of the same name as in the container, or in `scripts`.

    Args:
        name: The file of the manifest.
        path: The path of the script in the container.
    """
    folder = os.path.dirname(name)
    if not os.path.isfile(name):
        return None
    above, base = os.path.split(os.path.normpath(path))
    inner = os.path.basename(above)
    folders = ("", inner if inner != os.pardir else "", _SCRIPTS)
    places = dict.fromkeys(os.path.join(inside, base) for inside in folders)
    found = [one for place in places if os.path.isfile(one := os.path.join(folder, place))]
    return _read(found[0], folder or os.curdir) if len(found) == 1 else None


def _read(path: str, folder: str) -> Source | None:
    from trainyard.document import opening

    try:
        data = opening.read_found(opening.real_path(path, folder), folder)
        return Source(path, data.decode("utf-8")) if len(data) <= _MAX_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None
