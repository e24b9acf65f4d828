"""The slices that whereabouts gives to nodes cannot be made, so no pod on the network gets an address.

With `node_slice_size` each node has a slice of the range, and a controller writes the slices into a NodeSlicePool. The
pool has the name that `network_name` gives, or else the `name` of the configuration. Without both, and with a name that
no object can have, the API server refuses it. The controller reads the object itself, so the name that Multus adds on
the nodes does not count.

A slice is not larger than the range, and the range is one of IPv4. Each slice is an entry of the pool: 65,536 of them
are above the limit of an object. `node_slice_size` is a text such as `"/26"`.

Write a name, and a size that leaves a slice for each node that the cluster may have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import SUBDOMAIN, is_known
from trainyard.analysis.network import cni
from trainyard.analysis.network.whereabouts import Pool, pools
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

_SIZE, _NAME = "node_slice_size", "network_name"
# The power of two at which the list of slices is larger than 1.5 MiB.
_TOO_MANY = 16


@rule(
    code="NT071",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/node-controller/controller.go: syncHandler, getSliceName",
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/iphelpers/iphelpers.go: DivideRangeBySize; pkg/types/types.go",
        "github.com/k8snetworkplumbingwg/whereabouts issues 497 and 518",
    ),
    needs=(_SIZE,),
)
def nad_whereabouts_slices_invalid(network: Network) -> Iterator[Problem]:
    """Report slices without a name, of a wrong size, and too many of them."""
    for plugin, at in network.plugins:
        ipam = cni.field_value(plugin, "ipam")
        size = cni.field_value(ipam, _SIZE)
        if cni.field_value(ipam, "type") != "whereabouts" or size in (None, ""):
            continue
        place = at.child(cni.field_name(plugin, "ipam"))
        yield from _name(network, ipam, place)
        if not isinstance(size, str):
            message = f"`{_SIZE}` is {size}, and whereabouts reads a text: it refuses the configuration"
            yield Problem(place.child(cni.field_name(ipam, _SIZE)), message, f'write "/{size}"')
            continue
        first = next((pool for pool in pools(network) if pool.at.path[: len(place.path)] == place.path), None)
        if first is not None:
            yield from _count(size, first, place.child(cni.field_name(ipam, _SIZE)))


def _name(network: Network, ipam: Any, at: Place) -> Iterator[Problem]:
    own, other = cni.field_text(ipam, _NAME), cni.field_text(network.config, "name")
    if not own and not other:
        yield Problem(
            at.child(cni.field_name(ipam, _SIZE)),
            f"the pool of the slices has no name, because the network has neither `{_NAME}` nor `name`: "
            "no pod gets an address",
            f"add `{_NAME}` to the ipam section",
        )
    elif own and is_known(own) and not SUBDOMAIN.match(own):
        yield Problem(
            at.child(cni.field_name(ipam, _NAME)),
            f"no pool of slices can have the name `{own}`: the API server refuses it",
            "write lower case letters, digits, `-` and `.`",
        )


def _count(size: str, pool: Pool, at: Place) -> Iterator[Problem]:
    length, subnet = decimal(size.removeprefix("/")), pool.subnet
    if subnet is None:
        return
    if length is None:
        yield Problem(at, f"`{_SIZE}` {size} is not a prefix length: there are no slices", 'write one such as "/26"')
    elif subnet.version == 6:
        yield Problem(
            pool.range_at,
            f"whereabouts divides ranges of IPv4 alone into slices, and not {subnet}",
            "remove `node_slice_size`",
        )
    elif not subnet.prefixlen <= length <= 32:
        message = f"a slice of /{length} does not fit into {subnet}: there are no slices"
        yield Problem(at, message, f"write /{subnet.prefixlen} to /32")
    elif length - subnet.prefixlen >= _TOO_MANY:
        yield Problem(
            at,
            f"{subnet} has {2 ** (length - subnet.prefixlen):,} slices of /{length}: their list is too large to store",
            "write a smaller range, or larger slices",
        )
