"""The plugin or the kernel refuses this MTU, so no pod on the network can be created.

`mtu` of macvlan, ipvlan, vlan, bridge, ptp and tuning is a whole number of bytes: a number in quotes is no JSON number
for the plugin, a negative one it refuses itself, and below 68 or above 65535 the kernel does. A macvlan or vlan also
takes no more than the node's interface has, which the files do not say. All of this is found when a pod starts: it
stays in `ContainerCreating` with `FailedCreatePodSandBox`, and the other pods of the job hold their GPUs and wait.

Leave `mtu` away to take the MTU of the node's interface, or write what the whole fabric carries: 9000 for RoCE with
jumbo frames. 0 is the same as no `mtu`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.aspects import cni
from validator.model import Network
from validator.rule import Problem, rule

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
    """An MTU that no interface can have."""
    for plugin, at in cni.plugins(network, *PLUGINS):
        fault = _fault(cni.value(plugin, "mtu"))
        if fault:
            place = at.child(cni.key(plugin, "mtu"))
            yield Problem(place, f"`mtu` {fault}", "write a number of bytes such as 9000, or leave `mtu` away")


def _fault(mtu: Any) -> str | None:
    if mtu is None:
        return None
    if not isinstance(mtu, int) or isinstance(mtu, bool):
        return f"is {mtu!r} and must be a whole number"
    return f"{mtu} is outside {LEAST} to {MOST}" if mtu and not LEAST <= mtu <= MOST else None
