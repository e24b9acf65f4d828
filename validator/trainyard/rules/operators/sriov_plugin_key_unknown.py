"""A key of the SR-IOV device plugin's configuration is unknown, and has no effect.

The plugin ignores keys that it does not know. A misspelt selector (`pfName` for `pfNames`) selects nothing, so the
resource contains every device that the other selectors leave: the functions of other cards too, and with them pods of
the wrong network. A misspelt `isRdma` gives pods a device without `/dev/infiniband`.

Write the key as in the documentation of the plugin. Some keys exist for one device type only: `pciAddresses` and
`vdpaType` for `netDevice`, `auxTypes` for `auxNetDevice`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.hardware.sriov_plugin import ENTRY, SELECTORS
from trainyard.model.run import Resource


@rule(
    code="GO018",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/types/types.go: ResourceConfig, NetDeviceSelectors",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def sriov_plugin_key_unknown(resource: Resource) -> Iterator[Problem]:
    """Keys that the plugin ignores."""
    for found in configurations(resource, "sriovDevicePlugin", "resourceList", "resourceName"):
        listed = cni.field_value(found.tree, "resourceList")
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(entry, dict):
                yield from _of_entry(entry, found.at.child(cni.field_name(found.tree, "resourceList"), index))


def _of_entry(entry: dict[str, Any], at: Place) -> Iterator[Problem]:
    yield from _unknown(entry, ENTRY, "key", at)
    known = SELECTORS.get(cni.field_text(entry, "deviceType") or "netDevice")
    written, place = cni.field_value(entry, "selectors"), at.child(cni.field_name(entry, "selectors"))
    if known is None:
        return
    if isinstance(written, dict):
        yield from _unknown(written, known, "selector", place)
    for index, selectors in enumerate(written if isinstance(written, list) else ()):
        if isinstance(selectors, dict):
            yield from _unknown(selectors, known, "selector", place.child(index))


def _unknown(tree: Iterable[str], known: frozenset[str], what: str, at: Place) -> Iterator[Problem]:
    lower = {name.lower() for name in known}
    for name in tree:
        if str(name).lower() not in lower:
            near = closest_match(str(name), known, 0.6)
            yield Problem(
                at.child(name).key(),
                f"the plugin does not know the {what} `{name}` and ignores it",
                f"did you mean `{near}`?" if near is not None else f"it knows {format_list(sorted(known))}",
            )
