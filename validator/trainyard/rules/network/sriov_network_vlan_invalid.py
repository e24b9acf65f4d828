"""The sriov plugin rejects the VLAN of this SriovNetwork, so no pod can join the network.

`vlan` of a SriovNetwork is a number from 0 to 4094 and `vlanQoS` one from 0 to 7. The operator always writes `vlan`, 0
by default, and the plugin accepts a QoS above 0 and the protocol `802.1ad` only with a VLAN above 0. Each field alone
is valid, so the API server accepts the object and the operator reports no error: pods stay in `ContainerCreating` with
`non-zero vlan id must be configured`.

Set `vlan`, or remove `vlanQoS` and `vlanProto`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

HIGHEST = {"vlan": 4094, "vlanQoS": 7}


@rule(
    code="NT022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/sriovnetwork_types.go: vlan, vlanQoS; bindata cni-config",
        "k8snetworkplumbingwg/sriov-cni v2.10.0 pkg/config/config.go: LoadConf",
    ),
    needs=("SriovNetwork",),
)
def sriov_network_vlan_invalid(resource: Resource) -> Iterator[Problem]:
    """Report VLAN settings that the plugin rejects."""
    if resource.kind != "SriovNetwork":
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    for name, highest in HIGHEST.items():
        given = spec.get(name)
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= highest):
            yield Problem(
                at.child(name),
                f"`{name}` must be a number from 0 to {highest}, not {given!r}",
                "write a number without quotes",
            )
    if spec.get("vlan"):
        return
    quality, protocol = spec.get("vlanQoS"), spec.get("vlanProto")
    if isinstance(quality, int) and quality > 0:
        yield Problem(at.child("vlanQoS"), f"`vlanQoS` {quality} needs a VLAN", "set `vlan`, or remove `vlanQoS`")
    if isinstance(protocol, str) and protocol.lower() == "802.1ad":
        yield Problem(
            at.child("vlanProto"), f"`vlanProto` {protocol} needs a VLAN", "set `vlan`, or remove `vlanProto`"
        )
