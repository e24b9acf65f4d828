"""Files that git ignores: .gitignore in each folder up to the root of the repository, and `.git/info/exclude`."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document.opening import read_found, repository

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"


class Ignores(NamedTuple):
    """The patterns of some folders, each with the absolute path of its folder; those of inner folders are last."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def below(self, folder: str, file: str = NAME) -> Ignores:
        """Returns these patterns with those of a file in a folder."""
        # Few folders have such a file, and importing pathspec takes longer than linting one.
        from pathspec import GitIgnoreSpec

        try:
            # Git follows no link to such a file either.
            text = read_found(os.path.join(folder, file), folder).decode("utf-8", "replace")
            spec = GitIgnoreSpec.from_lines(io.StringIO(text, newline=None))
        except (OSError, ValueError):
            return self
        return Ignores((*self.specs, (os.path.join(os.path.abspath(folder), ""), spec)))

    def match(self, path: str) -> bool:
        """True if a file is ignored, or a folder, whose path ends with a slash. The innermost pattern decides."""
        if not self.specs:
            return False
        whole = os.path.abspath(path) + ("/" if path.endswith("/") else "")
        for folder, spec in reversed(self.specs):
            if whole.startswith(folder):
                included = spec.check_file(whole[len(folder) :].replace(os.sep, "/")).include
                if included is not None:
                    return included
        return False


def ignores_above(folder: str) -> Ignores:
    """Returns the patterns of the folders above a folder, up to the root of its repository.

    None of them counts outside of a repository, or if they ignore the folder itself: the user has named it.
    """
    start = os.path.abspath(folder)
    top = repository(start)
    if top is None:
        return Ignores()
    above: list[str] = []
    current = start
    while current != top:
        current = os.path.dirname(current)
        above.insert(0, current)
    result = Ignores()
    exclude = os.path.join(".git", "info", "exclude")
    if os.path.isfile(os.path.join(top, exclude)):
        result = result.below(top, exclude)
    for one in above:
        if os.path.isfile(os.path.join(one, NAME)):
            result = result.below(one)
    return Ignores() if result.match(f"{start}/") else result
