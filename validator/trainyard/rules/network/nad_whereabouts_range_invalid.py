"""A whereabouts range or limit is invalid, so pods get no address, or one outside the intended range.

`range` is a CIDR such as `10.10.0.0/24`, or `10.10.0.20-10.10.0.90/24`: first and last address, with the prefix length
of the subnet after the last. Anything else, a first address outside the subnet, and a subnet too small to have a
usable address (/31, /32) keep every pod of the network in `ContainerCreating`.

An invalid `range_start` or `range_end` is worse: if it is not an address, is outside the subnet or ends before it
starts, whereabouts silently ignores it and allocates from the whole subnet, including the addresses of gateways and
hosts. The network address and the broadcast address are harmless and not reported.

Each entry of `ipRanges` gives the interface one address, and entries of the same subnet share a pool. The pod already
has an address of this pool when the second entry is read, and gets it again: `failed to add IP addr: file exists`.

Write limits inside the subnet, and each subnet once. `exclude` takes addresses out of a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.analysis.network import addresses, cni
from trainyard.analysis.network.whereabouts import Pool, pools
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

if TYPE_CHECKING:
    from trainyard.analysis.network.addresses import Address, Subnet


@rule(
    code="NT009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/config/config.go: LoadIPAMConfig",
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/iphelpers/iphelpers.go: GetIPRange, FirstUsableIP",
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/allocate/allocate.go: AssignIP; issue 722",
    ),
)
def nad_whereabouts_range_invalid(network: Network) -> Iterator[Problem]:
    """Report ranges and limits that whereabouts rejects or ignores."""
    seen: set[Subnet] = set()
    for pool in pools(network):
        subnet = pool.subnet
        fault = _range_fault(pool.range, subnet)
        if fault:
            yield Problem(pool.range_at, f"whereabouts {fault}", "write a CIDR such as 10.10.0.0/24")
        elif subnet is not None and subnet in seen:
            yield Problem(
                pool.range_at,
                f"{subnet} is already a range of the network: the interface gets the same address twice, and fails",
                "write the range once; `exclude` takes addresses out of it",
            )
        elif subnet is not None and "-" not in pool.range:
            yield from _limits(pool, subnet)
        if subnet is not None:
            seen.add(subnet)


def _range_fault(text: str, subnet: Subnet | None) -> str | None:
    if subnet is None:
        return f"cannot parse the range `{text}`: it is not a CIDR"
    if subnet.num_addresses < 4:
        return f"has no usable address in {subnet}"
    if "-" in text:
        first = text.partition("-")[0]
        start = addresses.address(first)
        if start is None:
            return f"cannot parse `{first}`, the first address of the range"
        if start not in subnet:
            return f"rejects the range `{text}`: {start} is not in {subnet}"
    return None


def _limits(pool: Pool, subnet: Subnet) -> Iterator[Problem]:
    found: dict[str, Address] = {}
    for name in ("range_start", "range_end"):
        text = cni.field_text(pool.tree, name)
        if not text:
            continue
        place = pool.at.child(cni.field_name(pool.tree, name))
        limit = addresses.address(text)
        if limit is None or limit not in subnet:
            reason = "is not an address" if limit is None else f"is not in {subnet}"
            yield Problem(place, f"`{name}` {text} {reason}: whereabouts ignores it", f"write an address of {subnet}")
        else:
            found[name] = limit
    start, end = found.get("range_start"), found.get("range_end")
    if start is not None and end is not None and start > end:  # type: ignore[operator]
        place = pool.at.child(cni.field_name(pool.tree, "range_end"))
        yield Problem(place, f"`range_end` {end} is before `range_start` {start}: whereabouts ignores it", "swap them")
