"""An `NCCL_IB_TIMEOUT` of 0 or of 32 and more means for ever: a lost link hangs the run instead of ending it.

The value is an exponent: the adapter waits 4.096 µs times 2 to that power for an acknowledgement, and tries again
`NCCL_IB_RETRY_CNT` times. The field has five bits, 1 to 31. Documentation and adapters take 0 as no limit, and 32 and
above come out the same. When a cable or a switch port then fails, no rank gets an error: the GPUs wait until the
watchdog of the framework, if there is one, ends the process long after.

The default is 20 since NCCL 2.23, some 30 seconds with all retries; 22 to 23 suit large fabrics. The fix writes 31, the
longest finite time.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed
from validator.facts.strtoll import number
from validator.model import Setting
from validator.rule import Problem, rule

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
    """A timeout that never ends."""
    exponent = number(setting.value) if setting.name == "NCCL_IB_TIMEOUT" else None
    if exponent is None or 0 < exponent <= LONGEST:
        return
    yield Problem(
        setting.at,
        f"NCCL_IB_TIMEOUT={exponent} means no timeout: ranks wait for ever when a link fails",
        f"write a value of 1 to {LONGEST}; the default of 20 gives up after about 30 seconds",
        changed(setting, str(LONGEST)),
    )
