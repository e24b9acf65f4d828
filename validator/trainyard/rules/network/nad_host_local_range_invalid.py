"""The host-local plugin rejects this range, so no pod on the network can be created.

Each range has a `subnet` in CIDR form with no host bits set and with room for more than two addresses; `rangeStart`
and `rangeEnd`, if set, are in it, in this order. Two sets of `ranges` must not overlap, and a configuration without
any range is rejected too. The error appears when a pod starts, as `FailedCreatePodSandBox`; the API server stores the
configuration as text and does not parse it.

Write the network address: 10.90.4.0/24, not 10.90.4.1/24. The address of the gateway belongs in `gateway`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from trainyard.analysis.network import addresses, cni
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

if TYPE_CHECKING:
    from trainyard.analysis.network.addresses import Subnet


@rule(
    code="NT020",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/ipam/host-local/backend/allocator/range.go: Canonicalize",
        "containernetworking/plugins v1.9.1 plugins/ipam/host-local/backend/allocator/config.go: LoadIPAMConfig",
    ),
    needs=("host-local",),
)
def nad_host_local_range_invalid(network: Network) -> Iterator[Problem]:
    """Report ranges that host-local rejects."""
    for plugin, plugin_at in network.plugins:
        ipam, at = cni.field_value(plugin, "ipam"), plugin_at.child(cni.field_name(plugin, "ipam"))
        if cni.field_value(ipam, "type") != "host-local":
            continue
        sets = list(_sets(ipam, at))
        if not sets:
            yield Problem(at, "host-local has no range", "write `ranges: [[{subnet: ...}]]`")
        for entries in sets:
            for tree, place in entries:
                yield from _faults(tree, place)
        for one, other in combinations(sets, 2):
            yield from _overlaps(one, other)


_Set = list[tuple[Any, Place]]


def _sets(ipam: Any, at: Place) -> Iterator[_Set]:
    if cni.field_text(ipam, "subnet"):
        yield [(ipam, at)]
    listed = cni.field_value(ipam, "ranges")
    for number, entries in enumerate(listed if isinstance(listed, list) else ()):
        place = at.child(cni.field_name(ipam, "ranges"), number)
        if isinstance(entries, list) and entries:
            yield [(entry, place.child(index)) for index, entry in enumerate(entries) if isinstance(entry, dict)]


def _subnet(tree: Any) -> Subnet | None:
    return addresses.subnet(cni.field_text(tree, "subnet"))


def _faults(tree: Any, at: Place) -> Iterator[Problem]:
    written, subnet, place = cni.field_text(tree, "subnet"), _subnet(tree), at.child(cni.field_name(tree, "subnet"))
    if subnet is None:
        yield Problem(place, f"host-local cannot parse the subnet `{written}`", "write a CIDR such as 10.90.4.0/24")
        return
    if subnet.num_addresses < 4:
        yield Problem(place, f"{subnet} has no address for a pod", "write a larger subnet")
    elif addresses.address(written.partition("/")[0]) != subnet.network_address:
        yield Problem(place, f"host-local rejects `{written}`: it has host bits set", f"write {subnet}")
    found = []
    for name in ("rangeStart", "rangeEnd"):
        given = cni.field_text(tree, name)
        address = addresses.address(given) if given else None
        if given and (address is None or address not in subnet):
            reason = "is not an address" if address is None else f"is not in {subnet}"
            yield Problem(
                at.child(cni.field_name(tree, name)), f"`{name}` {given} {reason}", f"write an address of {subnet}"
            )
        elif address is not None:
            found.append(int(address))
    if len(found) == 2 and found[0] > found[1]:
        yield Problem(at.child(cni.field_name(tree, "rangeEnd")), "`rangeEnd` is before `rangeStart`", "swap them")


def _bounds(tree: Any) -> tuple[int, int, int] | None:
    """Return IP version, first and last address of a range, or None if the range cannot be parsed."""
    subnet = _subnet(tree)
    if subnet is None:
        return None
    start, end = (addresses.address(cni.field_text(tree, name)) for name in ("rangeStart", "rangeEnd"))
    first = start if start is not None and start in subnet else subnet.network_address
    last = end if end is not None and end in subnet else subnet.broadcast_address
    return subnet.version, int(first), int(last)


def _overlaps(one: _Set, other: _Set) -> Iterator[Problem]:
    for tree, at in other:
        mine = _bounds(tree)
        for known, _ in one:
            theirs = _bounds(known)
            if mine and theirs and mine[0] == theirs[0] and mine[1] <= theirs[2] and theirs[1] <= mine[2]:
                place = at.child(cni.field_name(tree, "subnet"))
                yield Problem(place, "two sets of ranges overlap: host-local rejects both", "keep one of them")
                return
