"""The ipvlan mode is unknown, so no pod can attach to the network.

The ipvlan plugin knows the modes `l2` (its default), `l3` and `l3s`, in lower case. Macvlan's mode names are not
valid: `bridge` ends in `unknown ipvlan mode` when the first pod starts, and the pod stays in `ContainerCreating`.

Pods of one job on different nodes usually share a subnet and use `l2`. With `l3` and `l3s` the node routes between the
interfaces: no broadcast passes, so ARP finds no neighbours, and the fabric needs a route to every node's part of the
subnet.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

MODES = ("l2", "l3", "l3s")


@rule(
    code="NT007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("containernetworking/plugins v1.9.1 plugins/main/ipvlan/ipvlan.go: modeFromString",),
    fix="safe",
)
def nad_ipvlan_mode_invalid(network: Network) -> Iterator[Problem]:
    """Report a mode that ipvlan rejects."""
    for plugin, at in cni.plugins(network, "ipvlan"):
        mode = cni.field_value(plugin, "mode")
        if not isinstance(mode, str) or mode in ("", *MODES):
            continue
        place = at.child(cni.field_name(plugin, "mode"))
        meant = mode.strip().lower()
        known = meant in MODES
        yield Problem(
            place,
            f"ipvlan has no mode `{mode}`",
            f'write "{meant}"' if known else "write l2, l3 or l3s",
            (SetValue(place, meant),) if known else (),
        )
