"""Translates the paths of a pod to this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Folders:
    """The folders that replace the volumes of a pod, by their paths in the pod."""

    def __init__(self, mounts: Mapping[str, Path]) -> None:
        bare = {path.rstrip("/"): str(folder) for path, folder in mounts.items()}
        # With nested volumes, the inner one holds the file.
        self._mounts = sorted(bare.items(), key=lambda pair: -len(pair[0]))

    def path(self, text: str) -> str:
        """Returns a path of the pod, or several separated by `:`, translated; any other text as it is."""
        parts = text.split(":")
        return ":".join(map(self._one, parts)) if all(part.startswith("/") for part in parts) else text

    def word(self, word: str) -> str:
        """Returns an argument, a path or `--option=path`, translated."""
        option, equals, value = word.partition("=")
        return f"{option}={self.path(value)}" if equals and option.startswith("-") else self.path(word)

    def tree(self, tree: Any) -> Any:
        """Returns a configuration with every string in it translated as a path."""
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
