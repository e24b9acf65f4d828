"""The merged values as the templates' twins read them: each with the way back to its place."""

from __future__ import annotations

from typing import Any, NamedTuple

from validator.roads.origins import From, Origin
from validator.roads.training_job import text
from validator.source import Path


class RefusedError(Exception):
    """Values with which the chart's templates fail: `path` is the value, `reason` what is wrong with it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


class Release(NamedTuple):
    """What the templates know of the release."""

    name: str
    namespace: str


class Values:
    """Values by path. What does not exist is None, as in a template."""

    def __init__(self, tree: dict[str, Any], release: Release) -> None:
        self._tree = tree
        self.release = release

    def get(self, *path: str | int) -> Any:
        """A value."""
        tree: Any = self._tree
        for step in path:
            tree = tree.get(step) if isinstance(tree, dict) else None
        return tree

    def copy(self, *path: str | int) -> From:
        """A value that `toYaml` or a quoting template copies as it is."""
        return From(text.number(self.get(*path)), Origin(path, exact=True))

    def bare(self, *path: str | int) -> From:
        """A value that a template writes without quotes."""
        return self.bare_text(text.printed(self.get(*path)), *path)

    def bare_text(self, written: str, *path: str | int, on_key: bool = False) -> From:
        """Text that a template makes of a value and writes without quotes."""
        try:
            return From(text.plain(written), Origin(path, exact=True, on_key=on_key))
        except text.NotPlainError:
            reason = "the chart writes it into the manifest without quotes, and there it is no longer one string"
            raise RefusedError(path, reason) from None

    def literals(self, *path: str | int) -> list[From]:
        """A list of words that reach the process as they are written."""
        words = self.get(*path) or []
        return [From(text.literal(word), Origin((*path, n), exact=True)) for n, word in enumerate(words)]

    def made(self, value: Any, *path: str | int) -> From:
        """A node that a template makes because of a value."""
        return From(value, Origin(path))
