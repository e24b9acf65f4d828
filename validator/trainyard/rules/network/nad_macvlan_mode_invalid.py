"""The macvlan mode is unknown, so no pod can attach to the network.

The macvlan plugin knows the modes `bridge` (its default), `private`, `vepa` and `passthru`, in lower case. Any other
value ends in `unknown macvlan mode` when the first pod starts; the pod stays in `ContainerCreating`. The spelling
`passthrough` is that of libvirt and macvtap.

Training pods on different nodes communicate through `bridge`; `private` and `vepa` isolate pods of one node from each
other, and `passthru` gives the whole interface to one pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

MODES = ("bridge", "private", "vepa", "passthru")
MEANT = {**{mode: mode for mode in MODES}, "passthrough": "passthru", "pass-through": "passthru", "bridged": "bridge"}


@rule(
    code="NT006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("containernetworking/plugins v1.9.1 plugins/main/macvlan/macvlan.go: modeFromString",),
    fix="safe",
)
def nad_macvlan_mode_invalid(network: Network) -> Iterator[Problem]:
    """Report a mode that macvlan rejects."""
    for plugin, at in cni.plugins(network, "macvlan"):
        mode = cni.field_value(plugin, "mode")
        if isinstance(mode, str) and mode not in ("", *MODES):
            place = at.child(cni.field_name(plugin, "mode"))
            meant = MEANT.get(mode.strip().lower())
            yield Problem(
                place,
                f"macvlan has no mode `{mode}`",
                f'write "{meant}"' if meant else f"write one of {', '.join(MODES)}",
                (SetValue(place, meant),) if meant else (),
            )
