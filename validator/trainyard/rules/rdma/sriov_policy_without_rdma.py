"""A training container uses virtual functions without RDMA, so NCCL falls back to TCP.

The SR-IOV device plugin puts the RDMA device of a function into the container only if the SriovNetworkNodePolicy says
`isRdma: true`; the default is false. Without it the pod has the network interface but no `/dev/infiniband`: NCCL finds
no adapter, logs `NET/Socket`, and trains at a fraction of the bandwidth without any error.

Set `isRdma: true`, with `deviceType: netdevice`. With `linkType: ib` the operator's webhook sets it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.fabric import accelerated_container
from trainyard.analysis.resources.device_plugins import policies_of
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role


@rule(
    code="RD014",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice/pciNetDevice.go: NewPciNetDevice, isRdma",
        "k8snetworkplumbingwg/sriov-network-operator api/v1 SriovNetworkNodePolicySpec.IsRdma; pkg/webhook/mutate.go",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def sriov_policy_without_rdma(role: Role, context: Context) -> Iterator[Problem]:
    """Virtual functions without RDMA in a run that trains on GPUs."""
    container = accelerated_container(role)
    if container is None or (context.run is not None and context.run.nodes == 1):
        return
    asked = {name.partition("/")[2]: name for name in (*container.limits, *container.requests) if "/" in name}
    found = ((name, policy) for short, name in asked.items() for policy in policies_of(context.project, short))
    for name, policy in found:
        spec = mapping(policy.tree, "spec")
        if not parse_quantity(container.quantity(name)) or spec.get("isRdma") is True:
            continue
        if text(spec, "linkType").lower() != "ib" and spec.get("deviceType") != "vfio-pci":
            yield Problem(
                policy.at.child("spec", "isRdma"),
                f"the run trains over {name}, but these functions have no RDMA device: NCCL uses TCP",
                "set `isRdma: true`",
                related=((container.at.child("resources", "limits", name), "the training container"),),
            )
