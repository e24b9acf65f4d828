"""`NCCL_IB_TIMEOUT` is 0 or above 31, which means no timeout: a lost link hangs the run.

The value is an exponent: the adapter waits 4.096 µs times 2 to that power for an acknowledgement, and retries
`NCCL_IB_RETRY_CNT` times. The field has five bits, so 1 to 31 are valid. Documentation and adapters treat 0 as no
limit, and 32 and above have the same effect. If a cable or a switch port then fails, no rank gets an error: the GPUs
wait until the framework's watchdog, if there is one, ends the process much later.

The default is 20 since NCCL 2.23, about 30 seconds with all retries; 22 to 23 suit large fabrics. The fix writes 31,
the longest finite time.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

LONGEST = 31


@rule(
    code="NC026",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_TIMEOUT",),
    fix="safe",
    needs=("NCCL_IB_TIMEOUT",),
)
def nccl_ib_timeout_infinite(setting: Setting) -> Iterator[Problem]:
    """An infinite timeout."""
    exponent = parse_integer(setting.value) if setting.name == "NCCL_IB_TIMEOUT" else None
    if exponent is None or 0 < exponent <= LONGEST:
        return
    yield Problem(
        setting.at,
        f"NCCL_IB_TIMEOUT={exponent} means no timeout: if a link fails, ranks wait forever",
        f"write a value from 1 to {LONGEST}; the default of 20 gives up after about 30 seconds",
        change_value(setting, str(LONGEST)),
    )
