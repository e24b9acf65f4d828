"""The table of a program, as CSV."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.generate.program_options.download import fetch
from tools.generate.program_options.option import Option, Options
from tools.generate.program_options.packages import PACKAGES, Package

_FOLDER = "validator/trainyard/facts/programs"
HEADER = ("option", "takes", "words", "part", "releases")
FILES = tuple(f"{_FOLDER}/{package.table}_options.csv" for package in PACKAGES)


def write(root: Path) -> None:
    """Write the tables."""
    for package in PACKAGES:
        write_table(root, package)


def write_table(root: Path, package: Package) -> None:
    """Write the table of one program."""
    read: list[tuple[str, Options]] = []
    for release in package.releases:
        with tempfile.TemporaryDirectory() as folder:
            source = fetch(package, release, Path(folder))
            read.append((release, package.read(source)))
    path = root / _FOLDER / f"{package.table}_options.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerow(("", "", "", "", " ".join(package.releases)))
        writer.writerows(rows(read))


def rows(read: list[tuple[str, Options]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yields the rows of a table: each form of an option with the ranges of releases that have it."""
    forms: dict[tuple[str, Option], list[int]] = {}
    for index, (_, options) in enumerate(read):
        for name, option in options.items():
            forms.setdefault((name, option), []).append(index)
    last = len(read) - 1
    for (name, option), indexes in sorted(forms.items()):
        ranges = []
        for first, end in _runs(indexes):
            begin = "" if first == 0 else read[first][0]
            ranges.append(f"{begin}-{'' if end == last else read[end][0]}" if (first, end) != (0, last) else "")
        yield name, option.takes, "|".join(option.words), option.part, " ".join(filter(None, ranges))


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    start = previous = indexes[0]
    for index in indexes[1:]:
        if index != previous + 1:
            yield start, previous
            start = index
        previous = index
    yield start, previous
