"""A level that NCCL does not know is ignored without a message, and NCCL goes on with its default.

`NCCL_P2P_LEVEL` and `NCCL_NET_GDR_LEVEL` are compared letter by letter with the path types LOC, NVL, NVB, C2C, PIX,
PXB, P2C, PXN, PHB and SYS. `pix`, `NODE` (which `nvidia-smi topo` prints) or a word with a blank at its end match
none of them. GPUDirect RDMA or peer-to-peer then stays off or on as NCCL chooses, and the log line "set by
environment" is missing.

Numbers are read in an old way of their own; another rule covers them.

Write one of the names in capital letters: LOC turns the path off, SYS allows it over any distance.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.facts.nccl_levels import LEVELS, VARIABLES
from validator.model import Setting
from validator.rule import Problem, rule


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
    """A word that is no path type."""
    value = literal(setting)
    if setting.name not in VARIABLES or not value or value in LEVELS or value[0].isdigit():
        return
    meant = value.strip().upper()
    yield Problem(
        setting.at,
        f"`{value}` is no path type, so NCCL ignores {setting.name}",
        f'write "{meant}"' if meant in LEVELS else f"use one of {', '.join(LEVELS)}",
        changed(setting, meant) if meant in LEVELS else (),
    )
