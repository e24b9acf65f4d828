"""`NCCL_DEBUG` logs every NCCL call, which slows the run down and fills the log storage.

`NCCL_DEBUG=TRACE`, and `INFO` together with `NCCL_DEBUG_SUBSYS=ALL`, write a line for the collectives, proxies and
allocations of every rank. Hundreds of ranks write gigabytes in an hour. The important lines are buried, and a node
whose disk is full evicts its pods. These settings are for a short run that looks for a fault.

The rule ignores `INFO` with the default subsystems (INIT, BOOTSTRAP, ENV), which logs at start only.

Write `WARN` for long runs, or name only the subsystems that you need: `INIT,NET`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting


@rule(
    code="NC018",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_DEBUG, NCCL_DEBUG_SUBSYS",),
    fix="unsafe",
    needs=("NCCL_DEBUG",),
)
def nccl_debug_verbose_in_production(setting: Setting, context: Context) -> Iterator[Problem]:
    """A level and subsystems that log all calls."""
    level = (literal_value(setting) or "").strip().upper() if setting.name == "NCCL_DEBUG" else ""
    container = context.container
    if container is None or container.setting("NCCL_DEBUG") is not setting or level not in ("INFO", "TRACE"):
        return
    subsystems = container.setting("NCCL_DEBUG_SUBSYS")
    chosen = (subsystems.value or "").upper().split(",") if subsystems is not None else []
    if level == "TRACE" or "ALL" in (word.strip() for word in chosen):
        what = "TRACE" if level == "TRACE" else "INFO of all subsystems"
        yield Problem(
            setting.at,
            f"NCCL_DEBUG logs every call on every rank ({what})",
            'write "WARN"',
            change_value(setting, "WARN"),
        )
