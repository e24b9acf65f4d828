"""The sriov plugin rejects this VLAN, so no pod on the network can be created.

The plugin checks `vlan`, `vlanQoS` and `vlanProto` before it configures the card: the VLAN is a number from 0 to 4094,
the QoS one from 0 to 7, the protocol `802.1q` or `802.1ad`. A QoS above 0 and the protocol `802.1ad` need a VLAN above
0, and neither field is valid without `vlan`. A number in quotes is not a number. The error appears when a pod starts:
it stays in `ContainerCreating` with `FailedCreatePodSandBox`, while the device plugin has already allocated a virtual
function to it.

Write `vlan` as a plain number in its range, and remove QoS and protocol if there is no VLAN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

PROTOCOLS = ("802.1q", "802.1ad")


@rule(
    code="NT003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("k8snetworkplumbingwg/sriov-cni v2.10.0 pkg/config/config.go: LoadConf",),
)
def nad_sriov_vlan_invalid(network: Network) -> Iterator[Problem]:
    """Report VLAN settings that the plugin rejects."""
    for plugin, at in cni.plugins(network, "sriov"):
        for name, fault, advice in _faults(plugin):
            yield Problem(at.child(cni.field_name(plugin, name)), fault, advice)


def _faults(plugin: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    vlan, qos, protocol = (cni.field_value(plugin, name) for name in ("vlan", "vlanQoS", "vlanProto"))
    for name, number, highest in (("vlan", vlan, 4094), ("vlanQoS", qos, 7)):
        if isinstance(number, str | bool | float):
            yield name, f"`{name}` must be a whole number, not {number!r}", f"write a number from 0 to {highest}"
        elif isinstance(number, int) and not 0 <= number <= highest:
            yield name, f"`{name}` {number} is outside 0 to {highest}", f"write a number from 0 to {highest}"
    if protocol is not None and str(protocol).lower() not in PROTOCOLS:
        yield "vlanProto", f"the sriov plugin has no `vlanProto` {protocol}", "write 802.1q or 802.1ad"
    for name, given, needs in (("vlanQoS", qos, qos != 0), ("vlanProto", protocol, _is_ad(protocol))):
        if given is None:
            continue
        if vlan is None:
            yield name, f"`{name}` is set without `vlan`", f"set `vlan`, or remove `{name}`"
        elif vlan == 0 and needs:
            yield (
                name,
                f"`{name}` {given} needs a VLAN, but `vlan` is 0",
                f"set `vlan` to 1 or more, or remove `{name}`",
            )


def _is_ad(protocol: Any) -> bool:
    return str(protocol).lower() == "802.1ad"
