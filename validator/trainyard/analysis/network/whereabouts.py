"""The address ranges of the whereabouts IPAM plugin.

Source: k8snetworkplumbingwg/whereabouts v0.9.4, pkg/config/config.go (LoadIPAMConfig) and pkg/iphelpers (GetIPRange).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainyard.analysis.network import addresses, cni
from trainyard.document.document import Place
from trainyard.model.run import Network

if TYPE_CHECKING:
    from trainyard.analysis.network.addresses import Address, Subnet


class Pool(NamedTuple):
    """An address range as written; `at` is the mapping that holds it."""

    tree: dict[str, Any]
    at: Place

    @property
    def range(self) -> str:
        """The `range` field: a CIDR, or `<first address>-<last address>/<length>`."""
        return cni.field_text(self.tree, "range")

    @property
    def range_at(self) -> Place:
        """The place of the `range` field."""
        return self.at.child(cni.field_name(self.tree, "range"))

    @property
    def subnet(self) -> Subnet | None:
        """The subnet, None if the range is invalid."""
        return addresses.subnet(self.range.rpartition("-")[2] if "-" in self.range else self.range)

    @property
    def exclude(self) -> list[Any]:
        """The excluded ranges as written."""
        found = cni.field_value(self.tree, "exclude")
        return found if isinstance(found, list) else []

    def bounds(self) -> tuple[Address, Address] | None:
        """The first and last address that may be assigned, before exclusions; None if the range is invalid."""
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
        return addresses.address(cni.field_text(self.tree, name))


def pools(network: Network) -> Iterator[Pool]:
    """Yields all ranges of a network whose addresses whereabouts assigns."""
    for plugin, at in network.plugins:
        ipam = cni.field_value(plugin, "ipam")
        if cni.field_value(ipam, "type") != "whereabouts":
            continue
        place = at.child(cni.field_name(plugin, "ipam"))
        if cni.field_text(ipam, "range"):
            yield Pool(ipam, place)
        listed = cni.field_value(ipam, "ipRanges")
        for index, entry in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(entry, dict):
                yield Pool(entry, place.child(cni.field_name(ipam, "ipRanges"), index))
