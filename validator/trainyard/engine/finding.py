"""A finding: a rule's problem, with its place resolved to a file, line and column."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.document.document import Edit
from trainyard.document.source import Position
from trainyard.engine.rule import Problem, Rule


class Finding(NamedTuple):
    """A problem at a position. `related` are further positions, each with a few words."""

    rule: Rule
    position: Position
    message: str
    help: str
    edits: tuple[Edit, ...]
    related: tuple[tuple[Position, str], ...]

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The sort key: file, line, column and rule."""
        return (self.position.source.name, self.position.line, self.position.column, self.rule.code)


def resolve(rule: Rule, problem: Problem) -> Finding:
    """Returns the finding for a problem."""
    return Finding(
        rule=rule,
        position=problem.at.document.locate(problem.at),
        message=problem.message,
        help=problem.help,
        edits=_translated(problem.edits),
        related=(
            *((at.document.locate(at), words) for at, words in problem.related),
            *problem.at.document.explain(problem.at),
        ),
    )


def _translated(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Returns the edits in terms of the user's files, or none: half of a fix is not applied."""
    translated = [edit.at.document.translate(edit) for edit in edits]
    return tuple(edit for edit in translated if edit is not None) if None not in translated else ()
