"""A level is given as a number, which NCCL translates by an old table, not by today's path types.

The numbers are those of NCCL 2.3 and are translated: 0 is LOC, 1 is PIX, 2 is PXB, 3 is PHB, and 4 and above are SYS.
They are not indexes into today's list of path types, and they cannot express NVL. The documentation advises against
them, because their meaning may change again. For example, `NCCL_NET_GDR_LEVEL=5` allows GPUDirect RDMA across the CPU
interconnect, where it is often slower than a copy through host memory.

Write the name of the path type instead of the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.facts.nccl import strtoll
from trainyard.facts.nccl.levels import NUMBERED, VARIABLES
from trainyard.model.run import Setting


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
    value = literal_value(setting) or ""
    number = strtoll.parse_integer(value) if re.fullmatch(r"[0-9]{1,18}", value) else None
    if setting.name not in VARIABLES or number is None:
        return
    meaning = NUMBERED[min(number, len(NUMBERED) - 1)]
    yield Problem(
        setting.at,
        f"{setting.name}={value} is a legacy NCCL 2.3 level and means {meaning}",
        f'write "{meaning}"',
        change_value(setting, meaning),
    )
