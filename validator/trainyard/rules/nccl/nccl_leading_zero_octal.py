"""A leading zero makes NCCL read the number as octal, so `010` is 8.

NCCL's integer parameters go through `strtoll` with base 0: `0x` in front means hexadecimal, `0` in front octal. A
digit that octal does not have ends the number: `08` is 0 and `019` is 1. NCCL accepts each without a message, and
prints the wrong number at `NCCL_DEBUG=INFO` only.

Numbers that are the same either way, such as `01` or `0`, are left alone, and so are variables that hold text, such
as `NCCL_HOSTID`.

Write the number without leading zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.facts import nccl, strtoll
from validator.model import Setting
from validator.rule import Problem, rule

# Text, or lists of numbers that NCCL reads in another way.
TEXTS = frozenset(
    (
        "NCCL_COMM_ID", "NCCL_CTA_POLICY", "NCCL_HOSTID", "NCCL_IB_HCA", "NCCL_NET", "NCCL_NET_FORCE_MERGE",
        "NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL", "NCCL_PROXY_CPUSET", "NCCL_RINGS", "NCCL_SOCKET_IFNAME",
        "NCCL_SOCKET_MAGIC", "NCCL_THREAD_THRESHOLDS",
    )
)  # fmt: skip


@rule(
    code="NC006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/misc/param.cc: ncclLoadParam reads with strtoll(value, nullptr, 0)",),
    fix="safe",
    needs=("NCCL_",),
)
def nccl_leading_zero_octal(setting: Setting) -> Iterator[Problem]:
    """A decimal number that NCCL reads as octal."""
    value = (literal(setting) or "").strip()
    if setting.name in TEXTS or setting.name not in nccl.variables() or not re.fullmatch(r"0[0-9]{1,18}", value):
        return
    read, meant = strtoll.number(value), int(value)
    if read != meant:
        yield Problem(
            setting.at,
            f"NCCL reads `{value}` as octal: {setting.name} is {read}",
            f'write "{meant}"',
            changed(setting, str(meant)),
        )
