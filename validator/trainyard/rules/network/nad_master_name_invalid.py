"""The master of the network is no name that an interface can have, so no pod can attach to the network.

The kernel takes names of up to 15 characters without `/`, `:` and blanks. `ens33:1` is the label of a second address of
`ens33`, and not an interface; the plugin ends with `Link not found`. The name of a VLAN, as `enP22p1s0f0np0.100`, is
also no longer.

Plugins also find an interface by an alternative name, which may be longer. So the rule reports longer names only if
they end as those of VLANs.

Write the name of an interface of the nodes, such as `ens33`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

_VALID = re.compile(r"[^\s/:]{1,15}")
# An alternative name; that of a VLAN is made by `ip link add`, which takes no long ones.
_ALTERNATIVE = re.compile(r"(?!.*\.\d+\Z)[^\s/:]{16,127}")
_TO_FILL = re.compile(r"[{$<]")
_LONG = "has more than 15 characters"


@rule(
    code="NT036",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "linux net/core/dev.c: dev_valid_name, IFNAMSIZ 16; include/uapi/linux/if.h: ALTIFNAMSIZ 128",
        "vishvananda/netlink v1.3.0 link_linux.go: LinkByName, IFLA_ALT_IFNAME for names above 15 characters",
        "github.com/k8snetworkplumbingwg/multus-cni issue 720",
    ),
)
def nad_master_name_invalid(network: Network) -> Iterator[Problem]:
    """Report names that no interface has."""
    for plugin, at in cni.plugins(network, "macvlan", "ipvlan", "vlan", "host-device", "ipoib", "bridge"):
        for field in ("master", "device"):
            name = cni.field_text(plugin, field)
            if not name or _VALID.fullmatch(name) or _ALTERNATIVE.fullmatch(name) or _TO_FILL.search(name):
                continue
            label = ":" in name
            fault = "is the label of an address" if label else _LONG if len(name) > 15 else "has a blank or a slash"
            yield Problem(
                at.child(cni.field_name(plugin, field)),
                f"`{name}` {fault}: no interface has this name, and no pod can attach to the network",
                f"write `{name.partition(':')[0]}`" if label else "write the name that `ip link` shows",
            )
