"""A SriovNetworkNodePolicy combines `isRdma: true` with `vfio-pci`, and the webhook rejects it.

`deviceType: vfio-pci` gives virtual functions to user space drivers and virtual machines. The kernel's network and RDMA
drivers do not see them, so `isRdma: true` is not possible. The webhook of the SR-IOV network operator reports that the
two conflict. If the webhook is off, the functions have no RDMA device, and pods that request the resource do not get
one.

Write `deviceType: netdevice` with `isRdma: true` for pods. For virtual machines keep `vfio-pci` and remove `isRdma`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RD008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/webhook/validate.go: deviceType against isRdma",),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_policy_rdma_vfio(resource: Resource) -> Iterator[Problem]:
    """RDMA with a user space driver."""
    if resource.kind != "SriovNetworkNodePolicy":
        return
    spec = mapping(resource.tree, "spec")
    if spec.get("deviceType") == "vfio-pci" and spec.get("isRdma") is True:
        yield Problem(
            resource.at.child("spec", "deviceType"),
            "`vfio-pci` functions have no RDMA device, but `isRdma` is true: the operator's webhook rejects the policy",
            "write `deviceType: netdevice`, or remove `isRdma`",
        )
