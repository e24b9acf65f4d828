"""The policy selects adapters by the device id of their virtual functions, so it matches no adapter.

`nicSelector.deviceID` is the id of the physical function, such as `101d` for a ConnectX-6 Dx. Its virtual functions
have an id of their own, `101e`, which `lspci` shows once they exist. The operator compares the selector with physical
functions only. Depending on its version, it rejects the policy, creates no function, or gives the device plugin a
selector without the id, which then offers other devices.

Write the id of the physical function.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# The ids of virtual functions by vendor, with an adapter that has them. No physical function has one of these ids.
FUNCTIONS = {
    "15b3": {
        "1014": "ConnectX-4 (1013)",
        "1016": "ConnectX-4 Lx (1015)",
        "1018": "ConnectX-5 (1017)",
        "101a": "ConnectX-5 Ex (1019)",
        "101c": "ConnectX-6 (101b)",
        "101e": "ConnectX-6 Dx (101d) and ConnectX-7 (1021)",
    },
    "8086": {"154c": "XXV710 (158b) and XL710 (1583)", "1889": "E810 (1592)"},
    "14e4": {"16dc": "BCM57414 (16d7)", "1806": "BCM57508 (1750)"},
}


@rule(
    code="NT028",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator v1.6.0 deployment/sriov-network-operator-chart: supported-nic-ids",
        "github.com/openshift/sriov-network-operator issue 652 and pull request 87",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_policy_selects_function(resource: Resource) -> Iterator[Problem]:
    """Policies with the id of virtual functions."""
    if resource.kind != "SriovNetworkNodePolicy":
        return
    selector = mapping(resource.tree, "spec", "nicSelector")
    written = selector.get("deviceID")
    if not isinstance(written, str):
        return
    vendor = selector.get("vendor")
    known = [FUNCTIONS.get(vendor, {})] if isinstance(vendor, str) and vendor else list(FUNCTIONS.values())
    adapter = next((ids[written.lower()] for ids in known if written.lower() in ids), None)
    if adapter is not None:
        yield Problem(
            resource.at.child("spec", "nicSelector", "deviceID"),
            f"`{written}` is the device ID of virtual functions, not of an adapter: the policy selects no adapter",
            f"write the id of the adapter: these functions belong to {adapter}",
        )
