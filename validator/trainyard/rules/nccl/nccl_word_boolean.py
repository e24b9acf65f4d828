"""NCCL parses its switches as integers, so a word such as `true` or `off` means 0.

NCCL parses integer parameters with `strtoll` in base 0. A word has no leading digits, and NCCL neither stops nor warns:
the variable is 0 for the whole run. `NCCL_IB_DISABLE=true` leaves InfiniBand *on*, `NCCL_SHM_DISABLE=yes` leaves shared
memory on, and a switch such as `NCCL_DEBUG_...` stays off although it was set to on.

NCCL 2.30.7 and later parse three switches as booleans, and the rule ignores them: `NCCL_SET_THREAD_NAME`,
`NCCL_WARN_ENABLE_DEBUG_INFO` and `NCCL_PARAM_DUMP_ALL`.

Write `"1"` or `"0"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.numbers import OFF, ON, SWITCHES
from trainyard.model.run import Setting

BOOLEANS = ("NCCL_SET_THREAD_NAME", "NCCL_WARN_ENABLE_DEBUG_INFO", "NCCL_PARAM_DUMP_ALL")


@rule(
    code="NC005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/misc/param.cc: ncclLoadParam reads with strtoll(value, &end, 0)",),
    fix="safe",
    needs=("NCCL_",),
)
def nccl_word_boolean(setting: Setting) -> Iterator[Problem]:
    """A word where NCCL reads a number."""
    if not setting.name.startswith("NCCL_") or not setting.name.endswith(SWITCHES) or setting.name in BOOLEANS:
        return
    word = (setting.value or "").strip().lower()
    if word not in ON + OFF:
        return
    meant = "1" if word in ON else "0"
    yield Problem(
        setting.at,
        f"NCCL parses {setting.name} as an integer, so `{setting.value}` means 0",
        f'write "{meant}"',
        change_value(setting, meant),
    )
