"""`NCCL_OOB_NET_IFNAME` is read only when `NCCL_OOB_NET_ENABLE=1`; without it the bootstrap goes over another network.

NCCL exchanges its first addresses over TCP on the interface of `NCCL_SOCKET_IFNAME`. Since 2.23 it can use its own
network (InfiniBand or a plugin) for this instead, which is switched on by `NCCL_OOB_NET_ENABLE=1`; the interface for
that is `NCCL_OOB_NET_IFNAME`. While it is off, the default, the name is not looked at and no message says so: the
bootstrap keeps to the pod network.

Set `NCCL_OOB_NET_ENABLE` to `"1"`. If the interface for the bootstrap over TCP was meant, the variable is
`NCCL_SOCKET_IFNAME`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import beside, counts, open_ended
from validator.aspects.settings import changed
from validator.facts.strtoll import number
from validator.model import Setting
from validator.rule import Context, Problem, rule

SWITCH = "NCCL_OOB_NET_ENABLE"


@rule(
    code="NC035",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_OOB_NET_IFNAME",
        "NVIDIA/nccl v2.30.7-1 src/bootstrap.cc: BootstrapNetEnable is 0 by default",
    ),
    fix="unsafe",
    needs=("NCCL_OOB_NET_IFNAME",),
)
def nccl_oob_ifname_without_enable(setting: Setting, context: Context) -> Iterator[Problem]:
    """An interface for a bootstrap that is not on."""
    container = context.container
    if setting.name != "NCCL_OOB_NET_IFNAME" or container is None or not counts(setting, container):
        return
    switch = container.setting(SWITCH)
    if switch is not None and (switch.value is None or number(switch.value) != 0):
        return
    if switch is None and open_ended(container, context):
        return
    yield Problem(
        setting.at,
        f"NCCL does not read NCCL_OOB_NET_IFNAME: {SWITCH} is not 1",
        f'set {SWITCH} to "1", or name the interface in NCCL_SOCKET_IFNAME',
        changed(switch, "1") if switch is not None else beside(setting, SWITCH, "1"),
    )
