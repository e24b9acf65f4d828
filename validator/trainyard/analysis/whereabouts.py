"""The address ranges of the whereabouts IPAM plugin.

Source: k8snetworkplumbingwg/whereabouts v0.9.4, pkg/config/config.go (LoadIPAMConfig) and pkg/iphelpers (GetIPRange).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from validator.aspects import addresses, cni
from validator.model import Network
from validator.source import Place

if TYPE_CHECKING:
    from validator.aspects.addresses import Address, Subnet


class Pool(NamedTuple):
    """One range as it is written; `at` is the mapping that holds it."""

    tree: dict[str, Any]
    at: Place

    @property
    def range(self) -> str:
        """The `range` field: a CIDR, or `<first address>-<last address>/<length>`."""
        return cni.string(self.tree, "range")

    @property
    def range_at(self) -> Place:
        """The place of the `range` field."""
        return self.at.child(cni.key(self.tree, "range"))

    @property
    def subnet(self) -> Subnet | None:
        """The subnet, None when the range cannot be read."""
        return addresses.subnet(self.range.rpartition("-")[2] if "-" in self.range else self.range)

    @property
    def exclude(self) -> list[Any]:
        """The excluded ranges as they are written."""
        found = cni.value(self.tree, "exclude")
        return found if isinstance(found, list) else []

    def bounds(self) -> tuple[Address, Address] | None:
        """First and last address that may be handed out, before exclusions; None when the range cannot be read."""
        subnet = self.subnet
        if subnet is None or subnet.num_addresses < 4:
            return None
        first, last = subnet.network_address + 1, subnet.broadcast_address - 1
        start, end = self._limit("range_start"), self._limit("range_end")
        if "-" in self.range:
            left, _, right = self.range.partition("-")
            start, end = addresses.address(left), addresses.address(right.partition("/")[0])
        if start is not None and start.version == first.version and first <= start <= last:  # type: ignore[operator]
            first = start
        if end is not None and end.version == last.version and first <= end <= last:  # type: ignore[operator]
            last = end
        return first, last

    def _limit(self, name: str) -> Address | None:
        return addresses.address(cni.string(self.tree, name))


def pools(network: Network) -> Iterator[Pool]:
    """All ranges of a network whose addresses whereabouts hands out."""
    for plugin, at in network.plugins:
        ipam = cni.value(plugin, "ipam")
        if cni.value(ipam, "type") != "whereabouts":
            continue
        place = at.child(cni.key(plugin, "ipam"))
        if cni.string(ipam, "range"):
            yield Pool(ipam, place)
        listed = cni.value(ipam, "ipRanges")
        for index, entry in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(entry, dict):
                yield Pool(entry, place.child(cni.key(ipam, "ipRanges"), index))
