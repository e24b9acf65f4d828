"""The declaration of a cause: the signs of it in a log, what it means, and what to do."""

from __future__ import annotations

import enum
import functools
import re
from dataclasses import dataclass


class Level(enum.StrEnum):
    """The part that a cause plays in the failure."""

    CAUSE = "cause"
    # Another failure leads to it: it is reported as such if the logs show that failure.
    CONSEQUENCE = "consequence"
    # It shows that a program ended, and not why: it is reported if the logs show nothing else.
    ENDING = "ending"
    # A run goes on with it, more slowly.
    HINT = "hint"


@dataclass(frozen=True)
class Sign:
    """A text that a line of a log contains; if a pattern is given, the line matches it as well."""

    text: str
    pattern: str = ""

    @functools.cached_property
    def literal(self) -> bytes:
        """Returns the text as it stands in a file."""
        return self.text.encode()

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def fits(self, line: str) -> bool:
        """Returns true if the line has the text and matches the pattern."""
        return self.text in line and (not self.pattern or self._compiled.search(line) is not None)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A cause of a failure.

    Attributes:
        name: Name in reports and in the names of cases.
        title: What is wrong, in a few words.
        signs: A line with one of them is evidence.
        explanation: Why the message appears.
        remedy: What to do.
        source: The document or issue that the facts come from.
        level: Part in the failure.
        confidence: `high` if the message names the cause, `medium` if other causes are possible, else `low`.
        unless: A line that matches this pattern is no evidence.
        needs: If given, the logs must have one of these signs somewhere.
        resolved_by: A later line of the same pod or rank with one of them means that the trouble is over.
        hides: Causes that are not reported beside this one, because they follow from it.
        messages: Messages for the documentation, if the signs are only parts of them.
        ended_by_agent: torchrun ends processes in the same way once another one has failed, which is no evidence.
        rules: Rules of `trainyard lint` that find the mistake in the values or manifests.
    """

    name: str
    title: str
    signs: tuple[Sign, ...]
    explanation: str
    remedy: str
    source: str
    level: Level = Level.CAUSE
    confidence: str = "high"
    unless: str = ""
    needs: tuple[Sign, ...] = ()
    resolved_by: tuple[Sign, ...] = ()
    hides: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    ended_by_agent: bool = False
    rules: tuple[str, ...] = ()

    @functools.cached_property
    def _unless(self) -> re.Pattern[str]:
        return re.compile(self.unless)

    def in_line(self, line: str) -> bool:
        """Returns true if the line is evidence."""
        if not any(sign.fits(line) for sign in self.signs):
            return False
        return not self.unless or self._unless.search(line) is None

    @property
    def all_signs(self) -> tuple[Sign, ...]:
        """Returns all signs that the scan of a log looks for."""
        return (*self.signs, *self.needs, *self.resolved_by)
