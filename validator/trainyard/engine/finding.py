"""A finding: a rule's problem, with its place resolved to a file, line and column."""

from __future__ import annotations

from trainyard.document.document import Edit
from trainyard.document.source import Position
from trainyard.engine.rule import Confidence, Problem, Rule, Safety
from trainyard.startup import NamedTuple


class Finding(NamedTuple):
    """A problem at a position. `related` are further positions, each with a few words.

    `is_from_image` is true if the finding follows from the version of an image, which nobody stated.
    """

    rule: Rule
    position: Position
    message: str
    help: str
    edits: tuple[Edit, ...]
    related: tuple[tuple[Position, str], ...]
    is_from_image: bool = False

    @property
    def fix(self) -> Safety | None:
        """The safety of the fix, None without a fix. A fix that follows from an image's version is not safe."""
        if not self.edits:
            return None
        return "unsafe" if self.is_from_image else self.rule.fix

    @property
    def confidence(self) -> Confidence:
        """The confidence of the rule; at most medium if the finding follows from an image's version."""
        return "medium" if self.is_from_image and self.rule.confidence == "high" else self.rule.confidence

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The sort key: file, line, column and rule."""
        return (self.position.source.name, self.position.line, self.position.column, self.rule.code)


def resolve(rule: Rule, problem: Problem) -> Finding:
    """Returns the finding for a problem."""
    release = problem.rests_on
    image = release.image if release is not None else None
    notes = ((image, f"this image has {release.component} {release}"),) if release is not None and image else ()
    return Finding(
        rule=rule,
        position=problem.at.locate(),
        message=problem.message,
        help=problem.help,
        edits=_translated(problem.edits),
        related=(
            *((at.locate(), words) for at, words in (*problem.related, *notes)),
            *problem.at.document.explain(problem.at),
        ),
        is_from_image=bool(notes),
    )


def _translated(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Returns the edits in terms of the user's files, or none: half of a fix is not applied."""
    translated = [edit.at.document.translate(edit) for edit in edits]
    return tuple(edit for edit in translated if edit is not None) if None not in translated else ()
