"""The operator makes a NetworkAttachmentDefinition of this object that Multus cannot read: `ipam` is no JSON object.

SriovNetwork, SriovIBNetwork, MacvlanNetwork, IPoIBNetwork, HostDeviceNetwork and OVSNetwork hold the settings of the
IPAM plugin as text. The operator puts the text as it is, without its blanks, into the configuration of the network that
it creates; neither it nor the API server reads it. A comma at the end, a comment or YAML in place of JSON shows only
when the first pod is attached: it stays in `ContainerCreating` with `failed to unmarshal Spec.Config`.

Write one JSON object with a `type`; leave the field away for a network without addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.fields import text
from validator.model import Resource
from validator.rule import Problem, rule

KINDS = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork")


@rule(
    code="NT016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go: RenderNetAttDef, SriovCniIpam",
        "Mellanox/network-operator v26.4.1 pkg/state/state_macvlan_network.go: Ipam",
    ),
    needs=("HostDeviceNetwork", "IPoIBNetwork", "MacvlanNetwork", "OVSNetwork", "SriovIBNetwork", "SriovNetwork"),
)
def operator_network_ipam_invalid(resource: Resource) -> Iterator[Problem]:
    """IPAM settings that are no JSON object."""
    raw = text(resource.tree, "spec", "ipam") if resource.kind in KINDS else ""
    fault = _fault(raw) if raw.strip() else None
    if fault is not None:
        at = resource.at.child("spec", "ipam")
        line = re.search(r"line (\d+)", fault)
        yield Problem(
            at.below(int(line[1]) - 1) if line else at,
            f"`ipam` of {resource.kind} {resource.name} is no JSON object: {fault.split(': line')[0]}",
            "write one JSON object with a `type`",
        )


def _fault(raw: str) -> str | None:
    import json

    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None if isinstance(value, dict) else "it is another value"
