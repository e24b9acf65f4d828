"""NCCL ignores `NCCL_OOB_NET_IFNAME` unless `NCCL_OOB_NET_ENABLE=1` is set.

NCCL exchanges its first addresses over TCP on the interface of `NCCL_SOCKET_IFNAME`. Since 2.23 it can use its own
network (InfiniBand or a plugin) for this instead. `NCCL_OOB_NET_ENABLE=1` turns that on, and `NCCL_OOB_NET_IFNAME`
names its interface. While it is off, which is the default, NCCL does not read the name and logs nothing: the bootstrap
stays on the pod network.

Set `NCCL_OOB_NET_ENABLE` to `"1"`. To choose the interface for the bootstrap over TCP, use `NCCL_SOCKET_IFNAME`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.environment import has_unknown_variables, is_effective, set_variable
from trainyard.analysis.pods.settings import change_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

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
    """An interface for an out-of-band bootstrap that is off."""
    container = context.container
    if setting.name != "NCCL_OOB_NET_IFNAME" or container is None or not is_effective(setting, container):
        return
    switch = container.setting(SWITCH)
    if switch is not None and (switch.value is None or parse_integer(switch.value) != 0):
        return
    if switch is None and has_unknown_variables(container, context):
        return
    yield Problem(
        setting.at,
        f"NCCL ignores NCCL_OOB_NET_IFNAME because {SWITCH} is not 1",
        f'set {SWITCH} to "1", or name the interface in NCCL_SOCKET_IFNAME',
        change_value(switch, "1") if switch is not None else set_variable(setting, SWITCH, "1"),
    )
