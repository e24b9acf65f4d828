"""The suppression gives no reason for allowing the rule.

The next reader cannot tell if the finding was wrong, is harmless on this cluster, or was only in the way before a
deadline, and has to find out again. A suppression without a reason is never removed, because nobody knows its purpose.

Write the reason after the name:
`# trainyard: allow nccl-ib-disabled-with-rdma: these nodes have no working InfiniBand`.
An annotation has the same form, `trainyard/allow: "nccl-shm-disabled: the image has no /dev/shm"`. In the configuration
the reason is the field `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.engine.rule import Problem, rule

if TYPE_CHECKING:
    from trainyard.engine.subjects import Suppression


@rule(
    code="HV008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("By definition: nothing stands behind the name of the rule that is allowed",),
)
def suppression_without_reason(suppression: Suppression) -> Iterator[Problem]:
    """Report a suppression with a name and no reason."""
    if suppression.name and not suppression.reason:
        message = f"`{suppression.name}` is allowed here without a reason"
        yield Problem(suppression.at, message, f"write `allow {suppression.name}: REASON`")
