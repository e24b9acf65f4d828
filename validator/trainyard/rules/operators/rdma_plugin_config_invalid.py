"""The RDMA shared device plugin rejects its configuration, so no node offers its resources.

The plugin reads JSON text: from `rdmaSharedDevicePlugin.config` of the network operator's NicClusterPolicy, or from a
ConfigMap. It exits if the list is empty, if a resource name has characters other than letters, digits and `_` (a dash
is not allowed), if a name appears twice, if `rdmaHcaMax` or `periodicUpdateInterval` is negative, or if an entry has
both `selectors` and `devices`, or neither. With an `rdmaHcaMax` of 0, which is also the default, it offers no device.
Pods that ask for the resources then stay Pending.

The API server does not parse the text: an extra comma shows only in the plugin's log, in a `CrashLoopBackOff` on each
node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

SELECTORS = ("vendors", "deviceIDs", "drivers", "ifNames", "linkTypes")


@rule(
    code="GO005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/resources_manager.go: ReadConfig, ValidateConfigs",),
    needs=("rdmaSharedDevicePlugin", "configList"),
)
def rdma_plugin_config_invalid(resource: Resource) -> Iterator[Problem]:
    """A configuration that the plugin rejects."""
    for found in configurations(resource, "rdmaSharedDevicePlugin", "configList", "rdmaHcaMax"):
        if found.fault:
            yield Problem(found.at, f"the plugin's configuration is not valid JSON: {found.fault}", "write strict JSON")
        else:
            yield from _faults(found.tree, found.at)


def _faults(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    interval, listed = cni.field_value(tree, "periodicUpdateInterval"), cni.field_value(tree, "configList")
    if isinstance(interval, int) and interval < 0:
        place = at.child(cni.field_name(tree, "periodicUpdateInterval"))
        yield Problem(
            place,
            f"`periodicUpdateInterval` is negative ({interval}): the plugin exits",
            "write seconds, or 0 to disable",
        )
    if not isinstance(listed, list) or not listed:
        yield Problem(
            at.child(cni.field_name(tree, "configList")), "`configList` is empty: the plugin exits", "add a resource"
        )
        return
    seen: set[str] = set()
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            place = at.child(cni.field_name(tree, "configList"), index)
            yield from _name_faults(entry, place, seen)
            yield from _device_faults(entry, place)


def _name_faults(entry: dict[str, Any], at: Place, seen: set[str]) -> Iterator[Problem]:
    name = cni.field_text(entry, "resourceName")
    place = at.child(cni.field_name(entry, "resourceName"))
    if not re.fullmatch(r"[a-zA-Z0-9_]+", name):
        yield Problem(place, f"resource name `{name}` is not valid: the plugin exits", "use letters, digits and `_`")
    elif name in seen:
        yield Problem(place, f"resource `{name}` is listed twice: the plugin exits", "give each entry a unique name")
    seen.add(name)


def _device_faults(entry: dict[str, Any], at: Place) -> Iterator[Problem]:
    most = cni.field_value(entry, "rdmaHcaMax")
    if most is None or (isinstance(most, int) and most <= 0):
        fault = "is missing" if most is None else f"is {most}"
        place = at.child(cni.field_name(entry, "rdmaHcaMax"))
        yield Problem(
            place,
            f"`rdmaHcaMax` {fault}: the plugin offers no device",
            "write the number of pods that may share a card",
        )
    selectors = cni.field_value(entry, "selectors")
    selected = any(cni.field_value(selectors, name) for name in SELECTORS)
    devices = bool(cni.field_value(entry, "devices"))
    if selected and devices:
        place = at.child(cni.field_name(entry, "devices"))
        yield Problem(place, "the entry has both `devices` and `selectors`: the plugin exits", "keep `selectors`")
    elif not selected and not devices:
        yield Problem(at, "the entry selects no device: the plugin exits", "add `selectors` such as `ifNames`")
