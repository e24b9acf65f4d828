"""A difference between the dumps of several ranks, and how it is put into words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.commands.doctor.recorder import Dump

MISMATCH, ABSENT = "mismatched-collectives", "collective-not-joined"


class Difference(NamedTuple):
    """A collective, a send or a receive that the ranks of a group did not call alike.

    Attributes:
        cause: Name of the cause.
        culprit: The rank that differs, if it is one.
        waiting: Ranks that wait for it.
        dump: A dump that shows it.
        position: Entry of that dump.
        created: Time of the call of the first rank.
        text: What happened, in words.
    """

    cause: str
    culprit: int | None
    waiting: frozenset[int]
    dump: Dump
    position: int
    created: int
    text: str


def title(group: tuple[str, str]) -> str:
    """Returns the name of a process group in a report."""
    name, described = group
    return f"group {described or name or 'default'}"


def ranks(numbers: list[int]) -> str:
    """Returns ranks in words, with runs of them joined: `ranks 0-3, 7`."""
    return "rank" + ("s" if len(numbers) != 1 else "") + " " + ", ".join(_spans(sorted(numbers)))


def _spans(numbers: list[int]) -> Iterator[str]:
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            first, last = numbers[start], numbers[index - 1]
            yield str(first) if first == last else f"{first}-{last}"
            start = index
