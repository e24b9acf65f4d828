"""Finds the configuration that no option names. Files of other users, and links to elsewhere, are not trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator

from trainyard.document import opening
from trainyard.startup import NamedTuple

_PYPROJECT = "pyproject.toml"
NAMES = (".trainyard.yaml", ".trainyard.yml", _PYPROJECT)


class Discovered(NamedTuple):
    """A configuration file that was found: neither it nor a file that it names may be outside of `root`.

    `notes` say what the user cannot see in the repository.
    """

    path: str | None = None
    root: str | None = None
    notes: tuple[str, ...] = ()


def discover(start: str) -> Discovered:
    """Returns the nearest configuration file, in a folder or its parents up to the root of the repository.

    The search ends at a folder of another user, who could turn off all rules there.
    """
    start = os.path.abspath(start)
    repository = opening.repository(start)
    owners = _owners(start)
    notes: list[str] = []
    for folder in _upwards(start, repository):
        is_above = folder != start
        is_trusted = not is_above or _belongs(folder, owners)
        for path in _candidates(folder):
            if not is_trusted or (is_above and repository is None and not _belongs(path, owners)):
                notes.append(f"{path} is not used: it belongs to another user; `--config {path}` uses it")
                return Discovered(notes=tuple(notes))
            try:
                if os.path.basename(path) == _PYPROJECT and not _has_section(path, repository or folder):
                    continue
            except OSError as error:
                notes.append(f"{path} is not used: {opening.reason(error)}")
                continue
            if is_above and repository is None:
                notes.append(f"the configuration is {path}")
            return Discovered(path, repository or folder, tuple(notes))
        if not is_trusted:
            break
    return Discovered(notes=tuple(notes))


def _upwards(folder: str, last: str | None) -> Iterator[str]:
    yield folder
    while folder not in (last, above := os.path.dirname(folder)):
        folder = above
        yield folder


def _candidates(folder: str) -> Iterator[str]:
    for name in NAMES:
        path = os.path.join(folder, name)
        # A link to nothing, or a pipe, must not look like a repository without a configuration.
        if os.path.lexists(path) and not os.path.isdir(path):
            yield path


def _has_section(path: str, root: str) -> bool:
    return b"[tool.trainyard" in opening.read_found(opening.real_path(path, root), root)


def _owners(start: str) -> frozenset[int] | None:
    """Returns the users whose files are trusted; None where files have no owner."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        # In a container, the checkout often belongs to another user than the process.
        return frozenset((os.geteuid(), os.stat(start).st_uid))
    except OSError:
        return frozenset((os.geteuid(),))


def _belongs(path: str, owners: frozenset[int] | None) -> bool:
    try:
        return owners is None or os.lstat(path).st_uid in owners
    except OSError:
        return False
