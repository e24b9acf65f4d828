"""`NCCL_IB_GID_INDEX` is set, so NCCL ignores the variables that choose a GID by its address.

NCCL uses `NCCL_IB_ADDR_FAMILY`, `NCCL_IB_ADDR_RANGE` and `NCCL_IB_ROCE_VERSION_NUM` to search the GID table of a RoCE
port for the right entry. An index of 0 or more skips that search: the port uses the index, and the family, the range
and the version have no effect. Nothing is logged. On a node where the index stands for another address the run fails,
although the range would have found the right one.

An index of `-1` means automatic and is not a conflict.

Remove `NCCL_IB_GID_INDEX`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

SEARCH = ("NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM")


@rule(
    code="NC025",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/connect.cc: ncclIbGetGidIndex",
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_IB_ADDR_RANGE",
    ),
    needs=("NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM"),
)
def nccl_gid_index_shadows_addr_range(setting: Setting, context: Context) -> Iterator[Problem]:
    """An address filter that a fixed GID index overrides."""
    if setting.name not in SEARCH or not is_effective(setting, context.container) or context.container is None:
        return
    fixed = context.container.setting("NCCL_IB_GID_INDEX")
    index = parse_integer(fixed.value) if fixed is not None else None
    if fixed is None or index is None or index < 0:
        return
    yield Problem(
        setting.at,
        f"{setting.name} has no effect: NCCL uses NCCL_IB_GID_INDEX={index} instead",
        "remove NCCL_IB_GID_INDEX",
        related=((fixed.at, "the fixed GID index"),),
    )
