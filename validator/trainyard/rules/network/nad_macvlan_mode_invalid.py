"""A macvlan network with an unknown mode cannot be attached to any pod.

The macvlan plugin knows the modes `bridge` (its default), `private`, `vepa` and `passthru`, in lower case. Anything
else ends in `unknown macvlan mode` when the first pod starts; the pod stays in `ContainerCreating`. The spelling
`passthrough` is that of libvirt and macvtap.

Training pods on different nodes talk through `bridge`; `private` and `vepa` keep pods of one node apart, and `passthru`
lends the whole interface to one pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import cni
from validator.model import Network
from validator.rule import Problem, SetValue, rule

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
    """A mode that macvlan rejects."""
    for plugin, at in cni.plugins(network, "macvlan"):
        mode = cni.value(plugin, "mode")
        if isinstance(mode, str) and mode not in ("", *MODES):
            place = at.child(cni.key(plugin, "mode"))
            meant = MEANT.get(mode.strip().lower())
            yield Problem(
                place,
                f"macvlan does not know the mode `{mode}`",
                f'write "{meant}"' if meant else f"write one of {', '.join(MODES)}",
                (SetValue(place, meant),) if meant else (),
            )
