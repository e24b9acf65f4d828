"""A fixed `NCCL_IB_GID_INDEX` makes RoCE fail in every pod whose GID table has another order.

The index of the RoCE v2 address in a port's GID table depends on how many addresses the interface has had, so it
differs between nodes and, with macvlan, between pods of one node. With the wrong one NCCL stops at `Call to
ibv_modify_qp failed`, or sends RoCE v1 that no router forwards. Since 2.21 NCCL looks for the right entry by itself and
its documentation says that the variable should not be set any more. On InfiniBand it is not read at all.

`-1` means automatic and is left alone, as are targets before 2.21 and values that the profile of the fabric asks for.

Remove the variable; where an address must be chosen, use `NCCL_IB_ADDR_FAMILY`, `NCCL_IB_ADDR_RANGE` and
`NCCL_IB_ROCE_VERSION_NUM`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.settings import dropped
from validator.facts.profiles import asks_for
from validator.facts.strtoll import number
from validator.model import Setting
from validator.rule import Context, Problem, rule

DYNAMIC_SINCE = (2, 21)


@rule(
    code="NC024",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/troubleshooting/networking_troubleshooting.rst: NCCL_IB_GID_INDEX",
        "NVIDIA/nccl v2.30.7-1 src/transport/net_ib/connect.cc: ncclIbGetGidIndex",
    ),
    fix="unsafe",
    needs=("NCCL_IB_GID_INDEX",),
)
def nccl_gid_index_set(setting: Setting, context: Context) -> Iterator[Problem]:
    """A GID index that NCCL would find by itself."""
    if setting.name != "NCCL_IB_GID_INDEX" or asks_for(context.profile, setting.name):
        return
    index = number(setting.value)
    if index is None or index < 0:
        return
    if context.target.nccl is not None and context.target.nccl < DYNAMIC_SINCE:
        return
    yield Problem(
        setting.at,
        f"every pod uses entry {index} of its GID table, which need not be the RoCE v2 address on each node",
        "remove NCCL_IB_GID_INDEX: NCCL 2.21 and later find the entry",
        dropped(setting),
    )
