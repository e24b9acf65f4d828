"""Memory of a node's devices: a port that was up, a number of links. A remembered device that is absent is lost.

The file is on the node, so that a new pod of the agent knows it too. Whoever removes a device from a node removes the
file.
"""

from __future__ import annotations

import json
import os
from pathlib import Path


class Memory:
    """The greatest number that was seen of each thing, by name, in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "seen.json"
        self._seen = self._read()

    def raise_to(self, name: str, number: float) -> float:
        """Returns the greatest number seen of `name`, this one included."""
        if number > self._seen.get(name, 0):
            self._seen[name] = number
            self._write()
        return self._seen.get(name, 0)

    def names(self, prefix: str) -> list[str]:
        """Returns the names that begin with `prefix`, without it."""
        return sorted(name.removeprefix(prefix) for name in self._seen if name.startswith(prefix))

    def _read(self) -> dict[str, float]:
        try:
            found = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return {}
        numbers = found.items() if isinstance(found, dict) else ()
        return {name: number for name, number in numbers if isinstance(number, (int, float))}

    def _write(self) -> None:
        # Without a place to write, the agent remembers until it ends.
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            partial = self._file.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps(self._seen, sort_keys=True))
            partial.replace(self._file)
        except OSError:
            return
