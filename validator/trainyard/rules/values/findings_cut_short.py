"""One rule has found so much in a file that it no longer looks for more of it.

Five hundred findings of one rule in one file have one cause: a generated file, a template that repeats a line, a list
that was pasted a thousand times. All of them would take seconds to find and nobody reads them, so behind the last one
that is listed there may be others. This finding stands at that last one.

Repair what the listed ones have in common, with `trainyard fix` where the rule has a fix, and lint again. A rule that
does not matter for such a file is allowed with a reason, or turned off with `--ignore`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.rule import Overflow, Problem, rule


@rule(
    code="HV011",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: the findings of each rule in each file were counted",),
)
def findings_cut_short(overflow: Overflow) -> Iterator[Problem]:
    """A rule that was asked no more about a file."""
    yield Problem(
        overflow.at,
        f"{overflow.rule.code} {overflow.rule.name} found {overflow.times} faults up to here and looked no further",
        "repair what they have in common, and lint again",
    )
