"""One rule has so many findings in a file that the linter stopped looking for more of them.

Five hundred findings of one rule in one file have one cause: a generated file, a template that repeats a line, a list
that was pasted a thousand times. Finding all of them would take seconds, and nobody reads them. There may be more
after the last one listed, which is the place of this finding.

Fix the common cause of the listed findings, with `trainyard fix` if the rule has a fix, and lint again. If the rule
does not matter for such a file, allow it with a reason, or turn it off with `--ignore`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Overflow, Problem, rule


@rule(
    code="HV011",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: the findings of each rule in each file were counted",),
)
def findings_cut_short(overflow: Overflow) -> Iterator[Problem]:
    """Report a rule that stopped at its limit of findings in a file."""
    yield Problem(
        overflow.at,
        f"{overflow.rule.code} {overflow.rule.name} stopped after {overflow.times} findings; there may be more below",
        "fix their common cause, and lint again",
    )
