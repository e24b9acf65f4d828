"""A rule is allowed here and nobody says why.

Whoever reads the file next has to find out again whether the finding was wrong, is harmless on this cluster, or was
only in the way on the day before a deadline. A suppression without a reason is never removed, since nobody knows
what for.

Write the reason behind the name: `# trainyard: allow nccl-ib-disabled: these nodes have no InfiniBand`. In an
annotation the form is the same, `trainyard/allow: "nccl-ib-disabled: these nodes have no InfiniBand"`, and in the
configuration it is the field `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.rule import Problem, rule

if TYPE_CHECKING:
    from validator.suppression import Suppression


@rule(
    code="HV008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: nothing stands behind the name of the rule that is allowed",),
)
def suppression_without_reason(suppression: Suppression) -> Iterator[Problem]:
    """A suppression with nothing behind its name."""
    if suppression.name and not suppression.reason:
        message = f"`{suppression.name}` is allowed here without a reason"
        yield Problem(suppression.at, message, f"write `allow {suppression.name}: why it is right here`")
