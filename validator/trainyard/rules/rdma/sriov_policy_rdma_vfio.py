"""A SriovNetworkNodePolicy asks for RDMA and for a driver that cannot do it, and the operator's webhook refuses it.

`deviceType: vfio-pci` gives virtual functions to user space drivers and virtual machines; the kernel's network and
RDMA drivers do not see them, so `isRdma: true` cannot hold. The webhook of the SR-IOV network operator answers that
both conflict. Where the webhook is off, no RDMA device appears and pods that ask for the resource find none in it.

Write `deviceType: netdevice` with `isRdma: true` for pods. For virtual machines keep `vfio-pci` and leave `isRdma`
out.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Resource
from validator.rule import Problem, rule


@rule(
    code="RD008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/webhook/validate.go: deviceType against isRdma",),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_policy_rdma_vfio(resource: Resource) -> Iterator[Problem]:
    """RDMA on a user space driver."""
    if resource.kind != "SriovNetworkNodePolicy":
        return
    spec = mapping(resource.tree, "spec")
    if spec.get("deviceType") == "vfio-pci" and spec.get("isRdma") is True:
        yield Problem(
            resource.at.child("spec", "deviceType"),
            "vfio-pci devices have no RDMA device, but isRdma is true: the operator's webhook refuses the policy",
            "write `deviceType: netdevice`, or leave isRdma out",
        )
