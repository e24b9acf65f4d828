"""The plugin rejects this VLAN, so no pod on the network can be created.

`vlan` of the bridge plugin and `vlanId` of the vlan plugin are whole numbers from 0 to 4094; 802.1Q reserves 4095. A
number in quotes is not a JSON number. In `vlanTrunk` of a bridge each entry has an `id`, or `minID` and `maxID` in
this order. The plugins check this when a pod starts: it stays in `ContainerCreating`, and the rest of the job waits
for it with its GPUs.

`nad-sriov-vlan-invalid` checks the fields of the `sriov` plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

FIELDS = {"bridge": "vlan", "vlan": "vlanId"}
MOST = 4094


@rule(
    code="NT019",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/main/bridge/bridge.go: loadNetConf, collectVlanTrunk",
        "containernetworking/plugins v1.9.1 plugins/main/vlan/vlan.go: loadConf",
    ),
    needs=("vlan",),
)
def nad_vlan_invalid(network: Network) -> Iterator[Problem]:
    """Report VLANs outside their range."""
    for plugin, at in cni.plugins(network, *FIELDS):
        field = FIELDS[cni.field_text(plugin, "type")]
        yield from _judged(plugin, field, at, 0)
        trunk = cni.field_value(plugin, "vlanTrunk")
        for index, entry in enumerate(trunk if isinstance(trunk, list) else ()):
            yield from _entry(entry, at.child(cni.field_name(plugin, "vlanTrunk"), index))


def _judged(tree: Any, field: str, at: Place, least: int) -> Iterator[Problem]:
    given, place = cni.field_value(tree, field), at.child(cni.field_name(tree, field))
    if given is None:
        return
    if not isinstance(given, int) or isinstance(given, bool):
        yield Problem(place, f"`{field}` must be a whole number, not {given!r}", f"write {least} to {MOST}")
    elif not least <= given <= MOST:
        yield Problem(place, f"`{field}` {given} is outside {least} to {MOST}", f"write {least} to {MOST}")


def _entry(entry: Any, at: Place) -> Iterator[Problem]:
    first, last = cni.field_value(entry, "minID"), cni.field_value(entry, "maxID")
    for field in ("id", "minID", "maxID"):
        yield from _judged(entry, field, at, 1)
    if (first is None) != (last is None):
        yield Problem(at, "`minID` and `maxID` must be set together", "write both, or `id` for one VLAN")
    elif isinstance(first, int) and isinstance(last, int) and first > last:
        yield Problem(at.child(cni.field_name(entry, "minID")), f"`minID` {first} is above `maxID` {last}", "swap them")
