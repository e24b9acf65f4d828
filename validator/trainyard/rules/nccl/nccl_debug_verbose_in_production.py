"""NCCL logs every call here, which slows the run down and fills the log store.

`NCCL_DEBUG=TRACE`, and `INFO` together with `NCCL_DEBUG_SUBSYS=ALL`, write a line for collectives, proxies and
allocations of every rank. Hundreds of ranks make gigabytes in an hour; the lines that matter go under, and a node
whose disk is full evicts the pods. These settings are for a short run that looks for a fault.

`INFO` with the default subsystems (INIT, BOOTSTRAP, ENV) writes at start only and is left alone.

Write `WARN` in runs that last, or name the subsystems that are of interest: `INIT,NET`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.model import Setting
from validator.rule import Context, Problem, rule


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
    level = (literal(setting) or "").strip().upper() if setting.name == "NCCL_DEBUG" else ""
    container = context.container
    if container is None or container.setting("NCCL_DEBUG") is not setting or level not in ("INFO", "TRACE"):
        return
    subsystems = container.setting("NCCL_DEBUG_SUBSYS")
    chosen = (subsystems.value or "").upper().split(",") if subsystems is not None else []
    if level == "TRACE" or "ALL" in (word.strip() for word in chosen):
        what = "TRACE" if level == "TRACE" else "INFO of all subsystems"
        yield Problem(
            setting.at,
            f"NCCL_DEBUG logs every call on every rank: {what}",
            'write "WARN"',
            changed(setting, "WARN"),
        )
