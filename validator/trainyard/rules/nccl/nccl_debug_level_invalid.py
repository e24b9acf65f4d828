"""`NCCL_DEBUG` has a word that is no level, and NCCL then logs nothing at all.

The levels are VERSION, WARN, INFO, ABORT and TRACE, in capital or small letters. NCCL has no level called `DEBUG`,
`WARNING` or `ERROR`, and no numbers: with such a value it stays silent, errors included, as if the variable were not
set. The log that was to explain a hang is empty when it is needed, and the run has to be repeated.

Words that ask for silence, such as `NONE`, `OFF` or `0`, are left alone: they get what they ask for.

Write `WARN` for errors, or `INFO` for what NCCL decides at start.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.model import Setting
from validator.rule import Problem, rule

LEVELS = ("VERSION", "WARN", "INFO", "ABORT", "TRACE")
SILENCE = ("", "NONE", "OFF", "0", "NO", "FALSE")
MEANT = {
    **dict.fromkeys(("WARNING", "WARNINGS", "ERROR", "ERR", "CRITICAL", "FATAL"), "WARN"),
    **dict.fromkeys(("DEBUG", "VERBOSE", "ALL", "ON", "TRUE", "YES", "1", "INFOS"), "INFO"),
}


@rule(
    code="NC017",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/debug.cc: ncclParamDebugLevel; v2.29.7-1 src/debug.cc: ncclDebugInit",),
    fix="safe",
    needs=("NCCL_DEBUG",),
)
def nccl_debug_level_invalid(setting: Setting) -> Iterator[Problem]:
    """A word that is no log level of NCCL."""
    value = literal(setting) if setting.name == "NCCL_DEBUG" else None
    word = (value or "").strip().upper()
    if value is None or word in LEVELS or word in SILENCE:
        return
    meant = MEANT.get(word)
    yield Problem(
        setting.at,
        f"`{value}` is no level of NCCL_DEBUG: NCCL logs nothing, errors included",
        f'write "{meant}"' if meant else "use WARN or INFO",
        changed(setting, meant) if meant else (),
    )
