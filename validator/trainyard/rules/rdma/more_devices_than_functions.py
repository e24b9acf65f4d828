"""A pod requests more virtual functions than any node can have, so it stays Pending.

A SriovNetworkNodePolicy creates `numVfs` functions on each adapter of `pfNames` or `rootDevices`, or those of a range
such as `ens1f0#0-3`. All policies with one `resourceName` together give the largest number that a node can offer. The
scheduler reports `Insufficient ...` forever for a pod that requests more.

The rule ignores policies that select adapters by vendor or device only, because their number is not in the files.

Request fewer devices, or raise `numVfs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network.device_networks import functions_on_a_node
from trainyard.analysis.resources.device_plugins import offered, policies_of
from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.requests import of_pod
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.model.run import Role


@rule(
    code="RD016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/sriovnetworknodepolicy_types.go: numVfs, nicSelector",
        "k8snetworkplumbingwg/sriov-network-operator README.md: pfNames with a range of functions",
    ),
    needs=("SriovNetworkNodePolicy",),
)
def more_devices_than_functions(role: Role, context: Context) -> Iterator[Problem]:
    """Requests beyond the functions of a node."""
    for name, quantity in of_pod(role.pod).items():
        short = name.partition("/")[2]
        if not is_device(name) or is_accelerator(name) or name in offered(context.project).names:
            continue
        policies = tuple(policies_of(context.project, short))
        most = functions_on_a_node(policies) if policies else None
        container = next((one for one in role.pod.containers if one.quantity(name) is not None), None)
        if most is not None and container is not None and quantity > most:
            field = "limits" if name in container.limits else "requests"
            yield Problem(
                quantity_at(context.run, role, container, field, name),
                f"a pod requests {quantity:g} {name}, but the policies create at most {most} on a node: it stays "
                "Pending",
                "request fewer, or raise `numVfs`",
                related=((policies[0].at.child("spec", "numVfs"), "the functions of an adapter"),),
            )
