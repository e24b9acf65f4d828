"""The plugin or the kernel rejects this MTU, so no pod on the network can be created.

`mtu` of macvlan, ipvlan, vlan, bridge, ptp and tuning is a whole number of bytes. The plugin rejects a number in
quotes, which is not a JSON number, and a negative number; the kernel rejects values below 68 or above 65535. A macvlan
or vlan also cannot exceed the MTU of the node's interface, which the files do not show. The error appears when a pod
starts: it stays in `ContainerCreating` with `FailedCreatePodSandBox`, and the other pods of the job hold their GPUs
and wait.

Remove `mtu` to use the MTU of the node's interface, or write the MTU of the whole fabric: 9000 for RoCE with jumbo
frames. 0 is the same as no `mtu`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

PLUGINS = ("macvlan", "ipvlan", "vlan", "bridge", "ptp", "tuning")
# ETH_MIN_MTU and ETH_MAX_MTU of the kernel.
LEAST, MOST = 68, 65535


@rule(
    code="NT018",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/main/macvlan/macvlan.go: loadConf, MTU; vlan.go, bridge.go, ptp.go",
        "torvalds/linux include/uapi/linux/if_ether.h: ETH_MIN_MTU, ETH_MAX_MTU",
    ),
    needs=("mtu",),
)
def nad_mtu_invalid(network: Network) -> Iterator[Problem]:
    """Report an MTU that no interface can have."""
    for plugin, at in cni.plugins(network, *PLUGINS):
        fault = _fault(cni.field_value(plugin, "mtu"))
        if fault:
            place = at.child(cni.field_name(plugin, "mtu"))
            yield Problem(place, f"`mtu` {fault}", "write a number of bytes such as 9000, or remove `mtu`")


def _fault(mtu: Any) -> str | None:
    if mtu is None:
        return None
    if not isinstance(mtu, int) or isinstance(mtu, bool):
        return f"must be a whole number, not {mtu!r}"
    return f"{mtu} is outside {LEAST} to {MOST}" if mtu and not LEAST <= mtu <= MOST else None
