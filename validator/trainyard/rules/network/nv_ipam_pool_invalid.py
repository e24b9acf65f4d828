"""nv-ipam rejects this pool, so no node gets addresses and every pod of the network waits.

An IPPool has a `subnet` that contains the `gateway`, and a `perNodeBlockSize`, of which at least one block must fit
into the subnet. A CIDRPool has a `cidr` without host bits, and a `perNodeNetworkPrefix` at least as long as the prefix
of the `cidr`; `gatewayIndex` is the position of the gateway in each node's subnet. The operator's webhook is off by
default. Without it the pool is stored as it is, the controller writes an event on it and allocates nothing: pods stay
in `ContainerCreating`.

A subnet with fewer blocks than the cluster has nodes is accepted, and the last nodes get none: leave room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import addresses
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="NT021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/nvidia-k8s-ipam api/v1alpha1/ippool_validate.go: IPPool.Validate",
        "Mellanox/nvidia-k8s-ipam api/v1alpha1/cidrpool_validate.go: CIDRPool.Validate, validateCIDR",
    ),
    needs=("IPPool", "CIDRPool"),
)
def nv_ipam_pool_invalid(resource: Resource) -> Iterator[Problem]:
    """Report pools that the controller rejects."""
    if not resource.api_version.startswith("nv-ipam.nvidia.com/"):
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "IPPool":
        yield from _ip_pool(spec, at)
    if resource.kind == "CIDRPool":
        yield from _cidr_pool(spec, at)


def _ip_pool(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    subnet, size = addresses.subnet(text(spec, "subnet")), spec.get("perNodeBlockSize")
    if subnet is None:
        yield Problem(at.child("subnet"), "`subnet` is not a CIDR", "write one such as 10.90.0.0/16")
    if not isinstance(size, int) or size < 1:
        yield Problem(
            at.child("perNodeBlockSize"),
            "nodes get no addresses: `perNodeBlockSize` must be 1 or more",
            "write the number of addresses per node",
        )
    elif subnet is not None and size > max(subnet.num_addresses - 2, 1):
        yield Problem(
            at.child("perNodeBlockSize"),
            f"a block of {size} addresses does not fit into {subnet}",
            "write a smaller block or a larger subnet",
        )
    gateway = text(spec, "gateway")
    address = addresses.address(gateway) if gateway else None
    if gateway and (address is None or (subnet is not None and address not in subnet)):
        reason = "is not an address" if address is None else f"is not in {subnet}"
        yield Problem(at.child("gateway"), f"`gateway` {gateway} {reason}", "write an address of the subnet")


def _cidr_pool(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    written, prefix = text(spec, "cidr"), spec.get("perNodeNetworkPrefix")
    subnet = addresses.subnet(written)
    if subnet is None:
        yield Problem(at.child("cidr"), "`cidr` is not a CIDR", "write one such as 10.90.0.0/16")
        return
    if addresses.address(written.partition("/")[0]) != subnet.network_address:
        yield Problem(at.child("cidr"), f"`cidr` {written} has host bits set", f"write {subnet}")
    if not isinstance(prefix, int) or not subnet.prefixlen <= prefix <= subnet.max_prefixlen or prefix == 0:
        shown = "is missing" if prefix is None else f"{prefix} is not a valid subnet length in {subnet}"
        yield Problem(
            at.child("perNodeNetworkPrefix"),
            f"`perNodeNetworkPrefix` {shown}",
            f"write a length from {subnet.prefixlen} to {subnet.max_prefixlen}",
        )
        return
    index = spec.get("gatewayIndex")
    if isinstance(index, int) and not 0 <= index < 2 ** (subnet.max_prefixlen - prefix):
        yield Problem(
            at.child("gatewayIndex"),
            f"`gatewayIndex` {index} is outside each node's /{prefix}",
            "write a smaller index",
        )
