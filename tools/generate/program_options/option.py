"""An option of a program, as a table says it."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """The type of an option, the words of a choice, and the part of the program that alone has it."""

    takes: str
    words: tuple[str, ...] = ()
    part: str = ""


Options = dict[str, Option]
