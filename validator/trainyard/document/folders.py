"""Searches folders for files to lint, and for charts. Files that git ignores and virtual environments are left out."""

from __future__ import annotations

import fnmatch
import os
from typing import NamedTuple

from trainyard.document.gitignore import Ignores, ignores_above
from trainyard.document.source import SCRIPTS

SUFFIXES = (".yaml", ".yml", ".json")
_WANTED = (*SUFFIXES, *SCRIPTS)
# The file that makes a folder a chart, and the parts of a chart that only make sense together with it.
CHART = "Chart.yaml"
SCENARIO = "-values.yaml"
# The file that makes a folder a virtual environment of Python: its files belong to installed packages.
_ENVIRONMENT = "pyvenv.cfg"
_CHART_FOLDERS = frozenset(("templates", "charts"))
_CHART_FILES = frozenset((CHART, "values.yaml", "values.schema.json"))


class Folder(NamedTuple):
    """The files below a folder, without those of charts, and the folders of the charts.

    `links` lead to folders elsewhere. They are not followed: a repository may hold links to anywhere.
    """

    files: list[str]
    charts: list[str]
    links: list[str]

    @classmethod
    def search(cls, folder: str, exclude: tuple[str, ...], *, gitignore: bool) -> Folder:
        """Returns the files and charts below a folder, by name. Hidden, excluded and ignored ones are left out.

        So are virtual environments, unless the folder itself is one. A folder that cannot be opened is among the files:
        opening it gives the reason.
        """
        search = _Search(exclude)
        search.walk(folder, ignores_above(folder) if gitignore else None, is_named=True)
        top = os.path.join(os.path.realpath(folder), "")
        outside = [link for link in search.links if not os.path.join(os.path.realpath(link), "").startswith(top)]
        return cls(sorted(search.files), sorted(search.charts), sorted(outside))


def matches(path: str, pattern: str) -> bool:
    """True if a path, as a whole or from any of its folders on, matches a pattern with `*` and `?`."""
    whole = os.path.relpath(path).replace(os.sep, "/")
    wanted = pattern.removeprefix("./").rstrip("/")
    return any(
        fnmatch.fnmatchcase(candidate, wanted) or fnmatch.fnmatchcase(candidate, wanted + "/*")
        for candidate in (whole, *(whole[n + 1 :] for n, letter in enumerate(whole) if letter == "/"))
    )


class _Search:
    """The walk through a folder, and what it has found."""

    def __init__(self, exclude: tuple[str, ...]) -> None:
        self._exclude = exclude
        self.files: list[str] = []
        self.charts: list[str] = []
        self.links: list[str] = []

    def walk(self, folder: str, ignores: Ignores | None, *, scenarios: bool = False, is_named: bool = False) -> None:
        """Adds the files and charts of a folder, and those below; `scenarios` marks the folder `ci` of a chart."""
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            self.files.append(folder)
            return
        names = {entry.name for entry in found}
        if _ENVIRONMENT in names and not is_named:
            return
        is_chart = CHART in names and not names.isdisjoint(_CHART_FOLDERS)
        if is_chart:
            self._add_chart(folder)
        if ignores is not None and ".gitignore" in names:
            ignores = ignores.below(folder)
        for entry in (entry for entry in found if entry.name[0] != "."):
            path = os.path.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if not (is_chart and entry.name in _CHART_FOLDERS) and not _ignored(ignores, f"{path}/"):
                    self.walk(path, ignores, scenarios=is_chart and entry.name == "ci")
            elif self._is_wanted(path, ignores):
                self._add(entry, path, is_chart=is_chart, scenarios=scenarios)

    def _add(self, entry: os.DirEntry[str], path: str, *, is_chart: bool, scenarios: bool) -> None:
        if entry.is_symlink() and _is_folder(entry):
            # The links of a chart are followed when it is rendered.
            self.links += [] if is_chart else [path]
        elif entry.name.endswith(_WANTED) and not (is_chart and entry.name in _CHART_FILES):
            self.files += [] if scenarios and entry.name.endswith(SCENARIO) else [path]

    def _add_chart(self, folder: str) -> None:
        # A chart whose files are links is elsewhere, too.
        if not os.path.islink(os.path.join(folder, CHART)) and not self._excluded(f"{folder}/{CHART}"):
            self.charts.append(folder)

    def _is_wanted(self, path: str, ignores: Ignores | None) -> bool:
        return not _ignored(ignores, path) and not self._excluded(path)

    def _excluded(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self._exclude)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder, or a link to one. A link into a folder that cannot be searched counts as a file."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _ignored(ignores: Ignores | None, path: str) -> bool:
    return ignores is not None and ignores.match(path)
