"""The level is not a path type that NCCL knows, so NCCL ignores the variable without a message.

NCCL compares `NCCL_P2P_LEVEL` and `NCCL_NET_GDR_LEVEL` character by character with the path types LOC, NVL, NVB, C2C,
PIX, PXB, P2C, PXN, PHB and SYS. `pix`, `NODE` (which `nvidia-smi topo` prints) or a word with a trailing space match
none of them. NCCL then decides by itself about GPUDirect RDMA or peer-to-peer, and the log line "set by environment" is
missing.

Numbers follow an old notation of their own; another rule covers them.

Write one of the names in capital letters: LOC turns the path off, SYS allows it over any distance.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl.levels import LEVELS, VARIABLES
from trainyard.model.run import Setting


@rule(
    code="NC007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/graph/paths.cc: ncclGetLevel; src/graph/topo.cc: topoPathTypeStr",),
    fix="safe",
    needs=("_LEVEL",),
)
def nccl_level_case_or_unknown(setting: Setting) -> Iterator[Problem]:
    """An unknown path type."""
    value = literal_value(setting)
    if setting.name not in VARIABLES or not value or value in LEVELS or value[0].isdigit():
        return
    meant = value.strip().upper()
    yield Problem(
        setting.at,
        f"`{value}` is not a path type, so NCCL ignores {setting.name}",
        f'write "{meant}"' if meant in LEVELS else f"use one of {', '.join(LEVELS)}",
        change_value(setting, meant) if meant in LEVELS else (),
    )
