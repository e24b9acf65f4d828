"""The SR-IOV device plugin rejects its configuration, so no node offers its resources.

The plugin reads JSON text: from a ConfigMap, or from `sriovDevicePlugin.config` of the network operator's
NicClusterPolicy. It exits if a resource name has characters other than letters, digits, `_` and `-`, if a name appears
twice under one prefix, if `deviceType` is unknown, or if an entry has both `isRdma` and `vdpaType`. It drops an entry
whose selectors have another type than it expects: a text in place of a list, or `"true"` in place of `true`. Pods that
ask for the resource then stay Pending.

The API server does not parse the text: a fault shows only in the plugin's log on each node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.hardware.sriov_plugin import FLAGS, NAME, SELECTORS
from trainyard.model.run import Resource


@rule(
    code="GO017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin cmd/sriovdp/manager.go: readConfig, validConfigs",
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/utils/utils.go: ValidResourceName; pkg/types/types.go",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def sriov_plugin_config_invalid(resource: Resource) -> Iterator[Problem]:
    """A configuration that the plugin rejects."""
    for found in configurations(resource, "sriovDevicePlugin", "resourceList", "resourceName"):
        if found.fault:
            yield Problem(found.at, f"the plugin's configuration is not valid JSON: {found.fault}", "write strict JSON")
            continue
        listed, at = cni.field_value(found.tree, "resourceList"), found.at.child("resourceList")
        if not isinstance(listed, list) or not listed:
            yield Problem(at, "`resourceList` is empty: the plugin exits", "add a resource")
            continue
        seen: set[tuple[str, str]] = set()
        for index, entry in enumerate(listed):
            if isinstance(entry, dict):
                yield from _name_faults(entry, at.child(index), seen)
                yield from _selector_faults(entry, at.child(index))


def _name_faults(entry: dict[str, Any], at: Place, seen: set[tuple[str, str]]) -> Iterator[Problem]:
    prefix, name = cni.field_text(entry, "resourcePrefix"), cni.field_text(entry, "resourceName")
    place = at.child(cni.field_name(entry, "resourceName"))
    if not NAME.match(name):
        help_ = "write the prefix as `resourcePrefix`" if "/" in name else "use letters, digits, `_` and `-`"
        yield Problem(place, f"resource name `{name}` is not valid: the plugin exits", help_)
    elif (prefix, name) in seen:
        yield Problem(place, f"resource `{name}` is listed twice: the plugin exits", "give each entry a unique name")
    seen.add((prefix, name))


def _selector_faults(entry: dict[str, Any], at: Place) -> Iterator[Problem]:
    kind = cni.field_text(entry, "deviceType") or "netDevice"
    if kind not in SELECTORS:
        near = closest_match(kind, SELECTORS, 0.5)
        yield Problem(
            at.child(cni.field_name(entry, "deviceType")),
            f"device type `{kind}` is unknown: the plugin exits",
            f"did you mean `{near}`?" if near is not None else f"types are {format_list(SELECTORS)}",
        )
        return
    written, place = cni.field_value(entry, "selectors"), at.child(cni.field_name(entry, "selectors"))
    listed = list(enumerate(written)) if isinstance(written, list) else [(None, written)]
    for index, selectors in listed:
        if isinstance(selectors, dict):
            yield from _faults_of(selectors, SELECTORS[kind], place if index is None else place.child(index))


def _faults_of(selectors: dict[str, Any], known: frozenset[str], at: Place) -> Iterator[Problem]:
    for name in sorted(known):
        value, place = cni.field_value(selectors, name), at.child(cni.field_name(selectors, name))
        if value is None:
            continue
        if name in FLAGS and not isinstance(value, bool):
            yield Problem(place, f"`{name}` is not true or false: the plugin drops the resource", "write it unquoted")
        elif name == "vdpaType":
            if cni.field_value(selectors, "isRdma") is True:
                yield Problem(place, "`isRdma` and `vdpaType` exclude each other: the plugin exits", "keep one of them")
        elif name not in FLAGS and not isinstance(value, list):
            yield Problem(place, f"`{name}` is not a list: the plugin drops the resource", f'write `["{value}"]`')
