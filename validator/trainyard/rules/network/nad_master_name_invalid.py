"""The master of the network is no name that an interface can have, so no pod can attach to the network.

The kernel takes names of up to 15 characters without `/`, `:` and blanks. `ens33:1` is the label of a second address of
`ens33`, and not an interface; the plugin ends with `Link not found`.

Write the name of an interface of the nodes, such as `ens33`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

_VALID = re.compile(r"[^\s/:]{1,15}")


@rule(
    code="NT036",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "linux net/core/dev.c: dev_valid_name, IFNAMSIZ 16",
        "github.com/k8snetworkplumbingwg/multus-cni issue 720",
    ),
)
def nad_master_name_invalid(network: Network) -> Iterator[Problem]:
    """Report names that no interface has."""
    for plugin, at in cni.plugins(network, "macvlan", "ipvlan", "vlan", "host-device", "ipoib", "bridge"):
        for field in ("master", "device"):
            name = cni.field_text(plugin, field)
            if not name or _VALID.fullmatch(name) or "{" in name or "$" in name or "<" in name:
                continue
            why = f"`{name}` has more than 15 characters" if len(name) > 15 else f"`{name}` is an address label"
            yield Problem(
                at.child(cni.field_name(plugin, field)),
                f"{why}: no interface has this name, and no pod can attach to the network",
                f"write `{name.partition(':')[0]}`" if ":" in name else "write the name that `ip link` shows",
            )
