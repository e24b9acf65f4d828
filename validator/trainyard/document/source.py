"""Source texts, positions in them, and lines: everything that needs no parser."""

from __future__ import annotations

import functools
import re

from trainyard.startup import NamedTuple, pattern

# The path to a node of a document: mapping keys and list indexes, from the root.
Path = tuple[str | int, ...]

# Files that are no YAML: scripts for a shell, lines of variables, and the configuration of Slurm.
SLURM_CONF = "slurm.conf"
SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm", ".env", "nccl.conf", SLURM_CONF)

# Line breaks of YAML, so that line numbers here equal those of the parser.
_BREAK = pattern("\r\n|[\n\r\x85\u2028\u2029]")


class Source:
    """The text of one file and its name on the command line.

    `folder` is the folder that the user named and that contains the file, None for a named file.
    """

    __slots__ = ("folder", "name", "text")

    def __init__(self, name: str, text: str, folder: str | None = None) -> None:
        self.name = name
        self.text = text
        self.folder = folder


class Excerpt(Source):
    """The text of a scalar in a file, such as the JSON in a ConfigMap."""

    __slots__ = ()


class Position(NamedTuple):
    """A range of characters in a file; lines and columns count from 1, the end is after the last character."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int


class BrokenText(NamedTuple):
    """The reason why a text cannot be read, and the place (line and column count from 1)."""

    message: str
    line: int
    column: int


@functools.lru_cache(maxsize=4)
def lines(source: Source) -> tuple[str, ...]:
    """Returns the lines of a file without their ends. Cached for the last files: most findings are in few files."""
    text = source.text
    # The expression takes ten times as long.
    return tuple(text.split("\n") if has_plain_breaks(text) else _BREAK.split(text))


@functools.lru_cache(maxsize=4)
def distinct_lines(source: Source) -> frozenset[str]:
    """Returns the different lines of a file, which two filters of a file by its known lines ask for."""
    return frozenset(source.text.split("\n"))


def has_plain_breaks(text: str) -> bool:
    """True if a text has no other line breaks than line feeds."""
    return not any(mark in text for mark in ("\r", "\x85", "\u2028", "\u2029"))


def narrowed(position: Position, words: str) -> Position:
    """Returns the part of a position with these words; all of it unless they are there exactly once."""
    numbered = lines(position.source)
    form = re.compile(rf"(?<![\w./=-]){re.escape(words)}(?![\w./-])")
    found = []
    for line in range(position.line, min(position.end_line, len(numbered)) + 1):
        start = position.column - 1 if line == position.line else 0
        end = position.end_column - 1 if line == position.end_line else len(numbered[line - 1])
        found += [(line, match) for match in form.finditer(numbered[line - 1], start, end)]
    if len(found) != 1:
        return position
    ((line, match),) = found
    return Position(position.source, line, match.start() + 1, line, match.end() + 1)


def offset(text: str, line: int, column: int) -> int:
    """Returns the number of characters before a position; `line` and `column` count from 0."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text))]
    return ends[line] + column
