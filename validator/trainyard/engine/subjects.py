"""Subjects of rules beside the model: the reading of a file, and a suppression."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.document.document import Document, Edit, Place
from trainyard.document.source import BrokenText, Source
from trainyard.document.text import Text
from trainyard.engine.finding import Finding
from trainyard.engine.rule import Rule
from trainyard.startup import NamedTuple


class Reading(NamedTuple):
    """The result of reading one file.

    `broken` lists the parts that could not be read; `text` gives places for them. `folder` is the folder that the user
    named and that contains the file, None for a named file. `linted` is true if the file contains anything that rules
    check. `note` is the reason why the file, or a part of it, was not checked; `chart` is true for a chart,
    which must be checked as a whole.
    """

    source: Source
    documents: tuple[Document, ...]
    broken: tuple[BrokenText, ...]
    text: Text
    folder: str | None = None
    linted: bool = False
    note: str = ""
    chart: bool = False


class Suppression(NamedTuple):
    """One rule that is suppressed somewhere. `name` is as written, `rule` is None if no rule has that name.

    `judged` is true if the rule was on at all: a suppression of another rule cannot be unused. `edits` remove the
    suppression. `suggestion` names a similar rule if none has the name.
    """

    name: str
    rule: Rule | None
    reason: str
    at: Place
    covers: Callable[[Finding], bool]
    judged: bool
    edits: tuple[Edit, ...] = ()
    used: bool = False
    suggestion: str = ""
