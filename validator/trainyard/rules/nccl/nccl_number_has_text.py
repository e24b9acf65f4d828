"""NCCL reads the variable as an integer, and the value has other text, so NCCL takes another number.

NCCL parses integer parameters with `strtoll` in base 0: it takes the digits at the start, and 0 if there are none.
`NCCL_BUFFSIZE=4MB` is a buffer of 4 bytes, `NCCL_IB_TIMEOUT=22s` is 22, and `NCCL_IB_GID_INDEX=3,5` is 3 for all
adapters. NCCL neither stops nor warns. Another rule reports words for switches.

Write the number alone, in the unit of the variable: sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.numbers import INTEGERS, OFF, ON, SWITCHES
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting
from trainyard.startup import pattern

_WHOLE = pattern(r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|\d+)\s*\Z")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = pattern(r"\s*(\d+)\s*([kKmMgG])i?[bB]?\s*\Z")


@rule(
    code="NC047",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/misc/param.cc: ncclLoadParam reads with strtoll(value, &end, 0)",),
    needs=("NCCL_",),
)
def nccl_number_has_text(setting: Setting) -> Iterator[Problem]:
    """Report integers with other text."""
    value = setting.value
    if setting.name not in INTEGERS or not value or _WHOLE.match(value) or any(sign in value for sign in "${<"):
        return
    if setting.name.endswith(SWITCHES) and value.strip().lower() in ON + OFF:
        return
    size = _SIZE.match(value) if "SIZE" in setting.name or "BYTES" in setting.name else None
    meant = f"write {int(size[1]) * _UNITS[size[2].lower()]}" if size is not None else "write the number alone"
    yield Problem(setting.at, f"NCCL reads {setting.name}={value} as {parse_integer(value) or 0}", meant)
