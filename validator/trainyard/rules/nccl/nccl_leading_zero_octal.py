"""NCCL reads a number with a leading zero as octal, so `010` is 8.

NCCL parses its integer parameters with `strtoll` in base 0: a leading `0x` means hexadecimal, a leading `0` means
octal. The number ends at a digit that octal does not have: `08` is 0 and `019` is 1. NCCL accepts all of these without
a message, and prints the wrong number only at `NCCL_DEBUG=INFO`.

The rule ignores numbers that are the same in both bases, such as `01` or `0`, and variables that hold text, such as
`NCCL_HOSTID`.

Write the number without leading zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import registry, strtoll
from trainyard.model.run import Setting

# Variables that hold text, or lists of numbers that NCCL parses differently.
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
    value = (literal_value(setting) or "").strip()
    if (
        setting.name in TEXTS
        or setting.name not in registry.nccl_variables()
        or not re.fullmatch(r"0[0-9]{1,18}", value)
    ):
        return
    read, meant = strtoll.parse_integer(value), int(value)
    if read != meant:
        yield Problem(
            setting.at,
            f"NCCL reads `{value}` as octal, so {setting.name} is {read}",
            f'write "{meant}"',
            change_value(setting, str(meant)),
        )
