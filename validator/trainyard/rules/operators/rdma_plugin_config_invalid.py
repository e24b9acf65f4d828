"""The RDMA shared device plugin stops at this configuration, so its resources exist on no node and pods stay Pending.

The plugin reads one JSON text: from `rdmaSharedDevicePlugin.config` of the network operator's NicClusterPolicy, or from
a ConfigMap. It ends when the list is empty, a resource's name has other characters than letters, digits and `_` (a
dash is not allowed), a name comes twice, `rdmaHcaMax` or `periodicUpdateInterval` is negative, or an entry has both
`selectors` and `devices`, or neither. An `rdmaHcaMax` of 0, which is also what a missing one means, offers no device.

The text is JSON for the plugin and only text for the API server: a comma too many shows in the plugin's log alone, in a
`CrashLoopBackOff` on each node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.aspects import cni
from validator.fields import mapping, text
from validator.model import Resource
from validator.reading import BrokenText, embedded
from validator.rule import Problem, rule
from validator.source import Place

SELECTORS = ("vendors", "deviceIDs", "drivers", "ifNames", "linkTypes")


@rule(
    code="GO005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/resources_manager.go: ReadConfig, ValidateConfigs",),
)
def rdma_plugin_config_invalid(resource: Resource) -> Iterator[Problem]:
    """A configuration that the plugin refuses."""
    for at, raw in _configurations(resource):
        fault = _json_fault(raw)
        inner = embedded(at, raw)
        if fault is not None:
            line = re.search(r"line (\d+)", fault)
            place = at.below(int(line[1]) - 1) if line else at
            yield Problem(
                place, f"the plugin's configuration is no JSON: {fault.split(': line')[0]}", "write strict JSON"
            )
        elif not isinstance(inner, BrokenText) and isinstance(inner.tree, dict):
            yield from _faults(inner.tree, Place(inner))


def _configurations(resource: Resource) -> Iterator[tuple[Place, str]]:
    if resource.kind in ("NicClusterPolicy", "NicNodePolicy"):
        raw = text(resource.tree, "spec", "rdmaSharedDevicePlugin", "config")
        if raw:
            yield resource.at.child("spec", "rdmaSharedDevicePlugin", "config"), raw
    if resource.kind == "ConfigMap":
        for key, raw in mapping(resource.tree, "data").items():
            if isinstance(raw, str) and '"configList"' in raw and '"rdmaHcaMax"' in raw:
                yield resource.at.child("data", key), raw


def _json_fault(raw: str) -> str | None:
    import json

    try:
        json.loads(raw)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _faults(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    interval, listed = cni.value(tree, "periodicUpdateInterval"), cni.value(tree, "configList")
    if isinstance(interval, int) and interval < 0:
        place = at.child(cni.key(tree, "periodicUpdateInterval"))
        yield Problem(place, f"`periodicUpdateInterval` is {interval}", "write seconds, 0 for none")
    if not isinstance(listed, list) or not listed:
        yield Problem(at.child(cni.key(tree, "configList")), "the plugin's configuration lists no resource", "add one")
        return
    seen: set[str] = set()
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            place = at.child(cni.key(tree, "configList"), index)
            yield from _name_faults(entry, place, seen)
            yield from _device_faults(entry, place)


def _name_faults(entry: dict[str, Any], at: Place, seen: set[str]) -> Iterator[Problem]:
    name = cni.string(entry, "resourceName")
    place = at.child(cni.key(entry, "resourceName"))
    if not re.fullmatch(r"[a-zA-Z0-9_]+", name):
        yield Problem(
            place, f"the resource's name `{name}` has characters that the plugin refuses", "use letters and `_`"
        )
    elif name in seen:
        yield Problem(place, f"the resource `{name}` is listed twice", "give each entry a name of its own")
    seen.add(name)


def _device_faults(entry: dict[str, Any], at: Place) -> Iterator[Problem]:
    most = cni.value(entry, "rdmaHcaMax")
    if most is None or (isinstance(most, int) and most <= 0):
        fault = "is missing" if most is None else f"is {most}"
        place = at.child(cni.key(entry, "rdmaHcaMax"))
        yield Problem(
            place, f"`rdmaHcaMax` {fault}: the plugin offers no device", "write how many pods may share a card"
        )
    selectors = cni.value(entry, "selectors")
    selected = any(cni.value(selectors, name) for name in SELECTORS)
    devices = bool(cni.value(entry, "devices"))
    if selected and devices:
        place = at.child(cni.key(entry, "devices"))
        yield Problem(place, "`devices` stands beside `selectors`: the plugin stops", "keep `selectors`")
    elif not selected and not devices:
        yield Problem(at, "the entry selects no device: the plugin stops", "add `selectors` such as `ifNames`")
