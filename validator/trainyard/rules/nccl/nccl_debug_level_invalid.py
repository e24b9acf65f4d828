"""`NCCL_DEBUG` names a level that does not exist, so NCCL logs nothing at all, not even errors.

The levels are VERSION, WARN, INFO, ABORT and TRACE, in upper or lower case. NCCL has no level called `DEBUG`, `WARNING`
or `ERROR`, and no numeric levels: with such a value it stays silent, as if the variable were unset. The log that should
explain a hang is empty when it is needed, and the run has to be repeated.

The rule ignores values that ask for silence, such as `NONE`, `OFF` or `0`.

Write `WARN` for errors, or `INFO` for the decisions that NCCL makes at start.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting

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
    """An unknown log level."""
    value = literal_value(setting) if setting.name == "NCCL_DEBUG" else None
    word = (value or "").strip().upper()
    if value is None or word in LEVELS or word in SILENCE:
        return
    meant = MEANT.get(word)
    yield Problem(
        setting.at,
        f"`{value}` is not an NCCL_DEBUG level: NCCL logs nothing, not even errors",
        f'write "{meant}"' if meant else "use WARN or INFO",
        change_value(setting, meant) if meant else (),
    )
