"""The suppression matches no finding: the mistake is gone, but the permission to make it again remains.

A suppression that outlives its reason hides the next, real mistake on the same line. One that names an unknown rule,
because of a typo or a renamed rule, never had an effect.

Remove the comment, the annotation or the configuration entry. The rule skips suppressions of rules that are off,
through `--ignore` or because they are pedantic. It also skips configuration entries unless the folder of the
configuration was linted, because otherwise nothing shows if they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.engine.rule import Problem, rule

if TYPE_CHECKING:
    from trainyard.engine.subjects import Suppression


@rule(
    code="HV006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: the suppression was compared with every finding of its rule at its place",),
    fix="safe",
)
def unused_suppression(suppression: Suppression) -> Iterator[Problem]:
    """Report a suppression that matches no finding."""
    if not suppression.name:
        yield Problem(suppression.at, "the suppression names no rule", "write `allow NAME: reason`")
    elif suppression.rule is None:
        message = f"`{suppression.name}` is allowed here, but no rule has this name or code"
        yield Problem(suppression.at, message, suppression.suggestion or "`trainyard rules` lists them")
    elif suppression.judged and not suppression.used:
        message = f"`{suppression.name}` is allowed here, but has no finding here"
        yield Problem(suppression.at, message, "remove it", suppression.edits)
