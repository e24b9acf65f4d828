"""A finding: what a rule says about a place, with the place resolved to a file, line and column."""

from __future__ import annotations

from typing import NamedTuple

from validator.rule import Edit, Problem, Rule
from validator.source import Position


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
        """Findings are listed by file, line, column and rule."""
        return (self.position.source.name, self.position.line, self.position.column, self.rule.code)


def resolve(rule: Rule, problem: Problem) -> Finding:
    """The finding for a problem."""
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
    """The edits as the user's files can take them; half of a fix is none."""
    translated = [edit.at.document.translate(edit) for edit in edits]
    return tuple(edit for edit in translated if edit is not None) if None not in translated else ()
