"""`NCCL_IB_TIMEOUT` is below every default that NCCL has had, so a busy fabric ends the run.

The value is an exponent: the adapter waits 4.096 µs times 2 to that power for an acknowledgement, and gives up after
`NCCL_IB_RETRY_CNT` retries, 7 by default. The default was 14 at first, 18 since NCCL 2.14 and 20 since 2.23: 67 ms, 1 s
and 4 s for each try. With 10, an acknowledgement that takes longer than 4 ms counts as lost. Congestion, a link that
flaps and a firmware update take longer, and the run ends with "Got completion with status=12" (transport retry
counter exceeded).

Remove the variable, or write 20 or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

# The lowest default of any release.
LOWEST = 14


@rule(
    code="NC041",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_TIMEOUT, with the defaults of each release",
        "InfiniBand Architecture Specification 1.4, 11.6.2: local ACK timeout is 4.096 µs times 2 to the value",
    ),
    fix="unsafe",
    needs=("NCCL_IB_TIMEOUT",),
)
def nccl_ib_timeout_too_short(setting: Setting) -> Iterator[Problem]:
    """A timeout shorter than any default."""
    exponent = parse_integer(setting.value) if setting.name == "NCCL_IB_TIMEOUT" else None
    if exponent is None or not 0 < exponent < LOWEST:
        return
    wait = 0.004096 * 2**exponent
    yield Problem(
        setting.at,
        f"NCCL_IB_TIMEOUT={exponent} waits {wait:.2g} ms for an acknowledgement: congestion ends the run",
        "remove the variable, or write 20 or more",
        remove_variable(setting),
    )
