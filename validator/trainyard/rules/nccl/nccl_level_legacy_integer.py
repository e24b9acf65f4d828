"""A number as level is NCCL's old notation, which does not mean the path types that NCCL has today.

The numbers are those of NCCL 2.3 and are translated: 0 is LOC, 1 PIX, 2 PXB, 3 PHB, and 4 and all higher ones SYS.
They are neither the places in today's list of path types nor can they say NVL. The documentation advises against
them, because their meaning may change again. `NCCL_NET_GDR_LEVEL=5` thus allows GPUDirect RDMA across the CPUs'
interconnect, where it is often slower than a copy through host memory.

Write the name of the path type instead of the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.aspects.settings import changed, literal
from validator.facts import strtoll
from validator.facts.nccl_levels import NUMBERED, VARIABLES
from validator.model import Setting
from validator.rule import Problem, rule


@rule(
    code="NC008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_P2P_LEVEL, Integer Values (Legacy)",
        "NVIDIA/nccl v2.30.7-1 src/graph/paths.cc: levelsOldToNew",
    ),
    fix="safe",
    needs=("_LEVEL",),
)
def nccl_level_legacy_integer(setting: Setting) -> Iterator[Problem]:
    """A path type given as a number."""
    value = literal(setting) or ""
    number = strtoll.number(value) if re.fullmatch(r"[0-9]{1,18}", value) else None
    if setting.name not in VARIABLES or number is None:
        return
    meaning = NUMBERED[min(number, len(NUMBERED) - 1)]
    yield Problem(
        setting.at,
        f"{setting.name}={value} is a level of NCCL 2.3 and means {meaning} today",
        f'write "{meaning}"',
        changed(setting, meaning),
    )
