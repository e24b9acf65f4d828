"""Policies on the objects of network operators."""

from __future__ import annotations

# The kind and the validations of each rule.
NETWORKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sriov-policy-rdma-vfio": (
        "SriovNetworkNodePolicy",
        ("object.spec.?deviceType.orValue('') != 'vfio-pci' || object.spec.?isRdma.orValue(false) != true",),
    ),
    "sriov-network-vlan-invalid": (
        "SriovNetwork",
        (
            "type(object.spec.?vlan.orValue(0)) == int && object.spec.?vlan.orValue(0) >= 0 && "
            "object.spec.?vlan.orValue(0) <= 4094",
            "type(object.spec.?vlanQoS.orValue(0)) == int && object.spec.?vlanQoS.orValue(0) >= 0 && "
            "object.spec.?vlanQoS.orValue(0) <= 7",
            "object.spec.?vlan.orValue(0) != 0 || (object.spec.?vlanQoS.orValue(0) == 0 && "
            "object.spec.?vlanProto.orValue('').lowerAscii() != '802.1ad')",
        ),
    ),
}
