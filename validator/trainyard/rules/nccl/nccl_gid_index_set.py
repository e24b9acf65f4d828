"""A fixed `NCCL_IB_GID_INDEX` makes RoCE fail in every pod whose GID table has another order.

The index of the RoCE v2 address in a port's GID table depends on how many addresses the interface has had. It therefore
differs between nodes and, with macvlan, between pods of one node. With the wrong index NCCL fails with
`Call to ibv_modify_qp failed`, or sends RoCE v1, which routers do not forward. Since 2.21 NCCL finds the right entry by
itself, and its documentation says that the variable should not be set any more. On InfiniBand it is not read at all.

Before 2.21 there is no other way, so the rule needs to know the release, from the target or from the image of the
container. It ignores `-1`, which means automatic, values that the fabric profile asks for, and those that it forbids,
which FB003 reports. Without a profile, the instance type in a node selector determines the fabric.

Remove the variable. If an address must be chosen, use `NCCL_IB_ADDR_FAMILY`, `NCCL_IB_ADDR_RANGE` and
`NCCL_IB_ROCE_VERSION_NUM`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.fabric import accelerated_container, likely_profile
from trainyard.analysis.pods.settings import remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.facts.profiles import asks_for, forbids
from trainyard.facts.versions import since
from trainyard.model.run import Setting

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
    """A fixed GID index."""
    if setting.name != "NCCL_IB_GID_INDEX" or asks_for(context.profile or likely_profile(context.run), setting.name):
        return
    if context.role is not None and accelerated_container(context.role) and forbids(context.profile, setting.name):
        return
    index = parse_integer(setting.value)
    if index is None or index < 0:
        return
    release = versions.nccl(context)
    if not since(release.version, DYNAMIC_SINCE):
        return
    yield Problem(
        setting.at,
        f"NCCL_IB_GID_INDEX={index} is fixed, but the RoCE v2 address can have another index on each node",
        "remove NCCL_IB_GID_INDEX: NCCL 2.21 and later find the entry",
        remove_variable(setting),
        rests_on=release,
    )
