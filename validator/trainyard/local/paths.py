"""Where the paths of a pod are on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Folders:
    """The folders that stand for the volumes of a pod, by the paths at which the pod has them."""

    def __init__(self, mounts: Mapping[str, Path]) -> None:
        bare = {path.rstrip("/"): str(folder) for path, folder in mounts.items()}
        # Of nested volumes the inner one holds the file.
        self._mounts = sorted(bare.items(), key=lambda pair: -len(pair[0]))

    def path(self, text: str) -> str:
        """A path of the pod, or several with `:` between them as in PYTHONPATH; any other text as it is."""
        parts = text.split(":")
        return ":".join(map(self._one, parts)) if all(part.startswith("/") for part in parts) else text

    def word(self, word: str) -> str:
        """An argument: a path, or `--option=path`."""
        option, equals, value = word.partition("=")
        return f"{option}={self.path(value)}" if equals and option.startswith("-") else self.path(word)

    def tree(self, tree: Any) -> Any:
        """A configuration, with every string in it taken for what may be a path."""
        if isinstance(tree, dict):
            return {key: self.tree(item) for key, item in tree.items()}
        if isinstance(tree, list):
            return [self.tree(item) for item in tree]
        return self.path(tree) if isinstance(tree, str) else tree

    def _one(self, path: str) -> str:
        for mount, folder in self._mounts:
            if path == mount or path.startswith(f"{mount}/"):
                return folder + path[len(mount) :]
        return path
