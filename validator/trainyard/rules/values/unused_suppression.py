"""A rule is allowed here that finds nothing here: the mistake is gone, but the permission to make it again is not.

A suppression that outlives its reason hides the next, real mistake at the same line. The same holds for one whose rule
has no such name, by a spelling mistake or because the rule was renamed: it never had an effect.

Remove the comment, the annotation or the entry of the configuration. Suppressions of rules that are switched off, by
`--ignore` or because they are pedantic, are left alone, and so are entries of the configuration unless the folder
that it is in was linted: nobody can tell whether they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.rule import Problem, rule

if TYPE_CHECKING:
    from validator.suppression import Suppression


@rule(
    code="HV006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: the suppression was compared with every finding of its rule at its place",),
    fix="safe",
)
def unused_suppression(suppression: Suppression) -> Iterator[Problem]:
    """A suppression that matches no finding."""
    if not suppression.name:
        yield Problem(suppression.at, "this allows no rule: it has no name", "write `allow NAME: reason`")
    elif suppression.rule is None:
        message = f"`{suppression.name}` is allowed here, but no rule has that name or code"
        yield Problem(suppression.at, message, suppression.suggestion or "`trainyard rules` lists them")
    elif suppression.judged and not suppression.used:
        message = f"`{suppression.name}` is allowed here, but it finds nothing here"
        yield Problem(suppression.at, message, "remove it", suppression.edits)
