"""`ipam` is not a JSON object, so the operator creates a network that Multus cannot parse.

SriovNetwork, SriovIBNetwork, MacvlanNetwork, IPoIBNetwork, HostDeviceNetwork and OVSNetwork hold the settings of the
IPAM plugin as text. The operator copies the text, without its blanks, into the configuration of the
NetworkAttachmentDefinition that it creates; neither it nor the API server parses it. A trailing comma, a comment or
YAML instead of JSON appears only when the first pod is attached: it stays in `ContainerCreating` with `failed to
unmarshal Spec.Config`.

Write one JSON object with a `type`; remove the field for a network without addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

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
    """Report IPAM settings that are not a JSON object."""
    raw = text(resource.tree, "spec", "ipam") if resource.kind in KINDS else ""
    fault = _fault(raw) if raw.strip() else None
    if fault is not None:
        at = resource.at.child("spec", "ipam")
        line = re.search(r"line (\d+)", fault)
        yield Problem(
            at.below(int(line[1]) - 1) if line else at,
            f"`ipam` of {resource.kind} {resource.name} is not a JSON object: {fault.split(': line')[0]}",
            "write one JSON object with a `type`",
        )


def _fault(raw: str) -> str | None:
    import json

    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None if isinstance(value, dict) else "it is another JSON value"
