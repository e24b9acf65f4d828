"""The IPAM configuration of whereabouts has a field of another plugin, which it ignores.

`rangeStart` and `rangeEnd` are fields of host-local. whereabouts calls them `range_start` and `range_end`, and
its parser drops names that it does not know. Without the limits it assigns all addresses of the range, also those of
gateways and hosts.

Rename the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

# By the name without capitals and separators.
MEANT = {"rangestart": "range_start", "rangeend": "range_end"}


@rule(
    code="NT030",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/whereabouts v0.9.4 pkg/types/types.go: IPAMConfig; pkg/config/config.go: LoadIPAMConfig",
        "containernetworking/plugins v1.9.0 plugins/ipam/host-local/backend/allocator/config.go: Range",
    ),
    fix="unsafe",
    needs=("whereabouts",),
)
def nad_whereabouts_field_unknown(network: Network) -> Iterator[Problem]:
    """Report fields of host-local in an IPAM configuration of whereabouts."""
    for plugin, at in network.plugins:
        ipam = cni.field_value(plugin, "ipam")
        if not isinstance(ipam, dict) or cni.field_value(ipam, "type") != "whereabouts":
            continue
        place = at.child(cni.field_name(plugin, "ipam"))
        for name in ipam:
            meant = MEANT.get(name.replace("-", "").lower())
            if meant is None or cni.field_value(ipam, meant):
                continue
            key = place.child(name).key()
            yield Problem(
                key,
                f"whereabouts has no field `{name}` and assigns every address of the range",
                f"write `{meant}`",
                (Rename(key, meant),),
            )
