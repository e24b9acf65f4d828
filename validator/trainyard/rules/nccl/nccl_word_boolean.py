"""NCCL reads its switches as numbers, so a word such as `true` or `off` means 0.

NCCL's integer parameters go through `strtoll` with base 0. A word has no leading digits, and NCCL neither stops nor
warns: the variable is 0 for the rest of the run. `NCCL_IB_DISABLE=true` leaves InfiniBand *on*, `NCCL_SHM_DISABLE=yes`
leaves shared memory on, and `NCCL_DEBUG_...`-style switches stay off although they were asked for.

Three switches are read as booleans since NCCL 2.30.7 and are left alone: `NCCL_SET_THREAD_NAME`,
`NCCL_WARN_ENABLE_DEBUG_INFO` and `NCCL_PARAM_DUMP_ALL`.

Write `"1"` or `"0"`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed
from validator.model import Setting
from validator.rule import Problem, rule

SWITCHES = ("_DISABLE", "_ENABLE", "NCCL_IGNORE_CPU_AFFINITY", "NCCL_IB_ADAPTIVE_ROUTING", "NCCL_COMM_BLOCKING")
BOOLEANS = ("NCCL_SET_THREAD_NAME", "NCCL_WARN_ENABLE_DEBUG_INFO", "NCCL_PARAM_DUMP_ALL")
ON = ("true", "yes", "on", "y", "t", "enable", "enabled")
OFF = ("false", "no", "off", "n", "f", "disable", "disabled")


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
        f"NCCL reads {setting.name} as a number: `{setting.value}` counts as 0",
        f'write "{meant}"',
        changed(setting, meant),
    )
