"""With `NCCL_IB_GID_INDEX` set, NCCL does not read the variables that choose a GID by its address.

`NCCL_IB_ADDR_FAMILY`, `NCCL_IB_ADDR_RANGE` and `NCCL_IB_ROCE_VERSION_NUM` steer the search that NCCL makes for the
right entry of a RoCE port's GID table. An index of 0 or more ends that search before it starts: the port uses the
index, and neither the family nor the range nor the version has any effect. Nothing is logged. On a node where the index
stands for another address the run then fails although the range would have found the right one.

An index of `-1` means automatic and is no conflict.

Remove `NCCL_IB_GID_INDEX`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import counts
from validator.facts.strtoll import number
from validator.model import Setting
from validator.rule import Context, Problem, rule

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
    """A choice of address that a fixed index makes void."""
    if setting.name not in SEARCH or not counts(setting, context.container) or context.container is None:
        return
    fixed = context.container.setting("NCCL_IB_GID_INDEX")
    index = number(fixed.value) if fixed is not None else None
    if fixed is None or index is None or index < 0:
        return
    yield Problem(
        setting.at,
        f"{setting.name} has no effect: NCCL_IB_GID_INDEX={index} is used instead",
        "remove NCCL_IB_GID_INDEX",
        related=((fixed.at, "this index ends the search"),),
    )
