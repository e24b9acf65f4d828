"""A whereabouts range that cannot be read, or a limit outside it, gives pods no address or one that is not theirs.

`range` is a CIDR such as `10.10.0.0/24`, or `10.10.0.20-10.10.0.90/24`: first and last address with the length of the
subnet behind the last. Anything else, a first address outside the subnet, and a subnet too small to have a usable
address (/31, /32) keep every pod of the network in `ContainerCreating`.

`range_start` and `range_end` are worse: where they are no address, lie outside the subnet or end before they start,
whereabouts ignores them without a word and hands out the whole subnet, the addresses of gateways and hosts with it. The
network address and the broadcast address are harmless and left alone.

Write limits that lie in the subnet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validator.aspects import addresses, cni
from validator.aspects.whereabouts import Pool, pools
from validator.model import Network
from validator.rule import Problem, rule

if TYPE_CHECKING:
    from validator.aspects.addresses import Address, Subnet


@rule(
    code="NT009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/config/config.go: LoadIPAMConfig",
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/iphelpers/iphelpers.go: GetIPRange, FirstUsableIP",
    ),
)
def nad_whereabouts_range_invalid(network: Network) -> Iterator[Problem]:
    """Ranges and limits that whereabouts rejects or ignores."""
    for pool in pools(network):
        subnet = pool.subnet
        fault = _range_fault(pool.range, subnet)
        if fault:
            yield Problem(pool.range_at, f"whereabouts {fault}", "write a CIDR such as 10.10.0.0/24")
        elif subnet is not None and "-" not in pool.range:
            yield from _limits(pool, subnet)


def _range_fault(text: str, subnet: Subnet | None) -> str | None:
    if subnet is None:
        return f"cannot read the range `{text}`: it is no CIDR"
    if subnet.num_addresses < 4:
        return f"has no usable address in {subnet}"
    if "-" in text:
        first = text.partition("-")[0]
        start = addresses.address(first)
        if start is None:
            return f"cannot read `{first}`, the first address of the range"
        if start not in subnet:
            return f"refuses the range `{text}`: {start} is not in {subnet}"
    return None


def _limits(pool: Pool, subnet: Subnet) -> Iterator[Problem]:
    found: dict[str, Address] = {}
    for name in ("range_start", "range_end"):
        text = cni.string(pool.tree, name)
        if not text:
            continue
        place = pool.at.child(cni.key(pool.tree, name))
        limit = addresses.address(text)
        if limit is None or limit not in subnet:
            reason = "is no address" if limit is None else f"is not in {subnet}"
            yield Problem(place, f"`{name}` {text} {reason}: whereabouts ignores it", f"write an address of {subnet}")
        else:
            found[name] = limit
    start, end = found.get("range_start"), found.get("range_end")
    if start is not None and end is not None and start > end:  # type: ignore[operator]
        place = pool.at.child(cni.key(pool.tree, "range_end"))
        yield Problem(place, f"`range_end` {end} is before `range_start` {start}: whereabouts ignores it", "swap them")
