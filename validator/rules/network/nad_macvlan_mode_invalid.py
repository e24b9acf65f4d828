"""A macvlan network with an unknown mode cannot be attached to any pod.

The macvlan plugin knows the modes `bridge` (its default), `private`, `vepa` and `passthru`, in lower case. Anything
else ends in `unknown macvlan mode` when the first pod starts; the pod stays in `ContainerCreating`. The spelling
`passthrough` is that of libvirt and macvtap. A negative `mtu` is refused as well; 0 means that of the master interface,
and a larger one than the master's, which is not in the files, fails too.

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
    sources=("containernetworking/plugins v1.9.1 plugins/main/macvlan/macvlan.go: modeFromString, loadConf",),
    fix="safe",
)
def nad_macvlan_mode_invalid(network: Network) -> Iterator[Problem]:
    """A mode or MTU that macvlan rejects."""
    for plugin, at in cni.plugins(network, "macvlan"):
        mode, mtu = cni.value(plugin, "mode"), cni.value(plugin, "mtu")
        if isinstance(mode, str) and mode not in ("", *MODES):
            place = at.child(cni.key(plugin, "mode"))
            meant = MEANT.get(mode.strip().lower())
            yield Problem(
                place,
                f"macvlan does not know the mode `{mode}`",
                f'write "{meant}"' if meant else f"write one of {', '.join(MODES)}",
                (SetValue(place, meant),) if meant else (),
            )
        if isinstance(mtu, int) and mtu < 0:
            yield Problem(at.child(cni.key(plugin, "mtu")), f"macvlan refuses the MTU {mtu}", "write 0 or more")
