"""Only the number 1 turns peer-to-peer off; with any other value of `NCCL_P2P_DISABLE` it stays on.

NCCL compares the number with 1 instead of testing for non-zero. `NCCL_P2P_DISABLE=2` or `-1` is read and matches
nothing, and NCCL then uses `NCCL_P2P_LEVEL` as if the variable were unset. There is no message; the log line "set by
environment" is missing. A job that needs peer-to-peer off, because the machine hangs with it, still hangs.

Another rule covers words such as `true`.

Write `"1"`, or `"0"` to leave peer-to-peer on.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import strtoll
from trainyard.model.run import Setting


@rule(
    code="NC009",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/graph/paths.cc: ncclGetLevel compares strtol(value, NULL, 0) with 1",),
    fix="safe",
    needs=("NCCL_P2P_DISABLE",),
)
def nccl_p2p_disable_not_one(setting: Setting) -> Iterator[Problem]:
    """A number that is neither 0 nor 1."""
    number = strtoll.parse_integer((literal_value(setting) or "")[:18]) if setting.name == "NCCL_P2P_DISABLE" else None
    if number not in (None, 0, 1):
        yield Problem(
            setting.at,
            f"NCCL_P2P_DISABLE={setting.value} leaves peer-to-peer on: only 1 turns it off",
            'write "1"',
            change_value(setting, "1"),
        )
