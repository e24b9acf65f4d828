"""The MIG manager cannot read its configuration, so no GPU is split.

The file has a `version: v1` and `mig-configs`: a list for each name that the label `nvidia.com/mig.config` may have.
An entry needs `devices`, which is the word `all` or a list of indices, and `mig-enabled`. With `mig-enabled: true` it
needs `mig-devices`, a number for each profile. With `false` it has none. Other fields are refused. One fault is
enough: no configuration of the file can be applied, and `nvidia.com/mig.config.state` of the nodes is `failed`.

Write the field as the message says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import is_known
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Resource

_CONFIGS = "mig-configs"
_TOP = ("version", _CONFIGS)
_FIELDS = ("devices", "mig-enabled", "mig-devices", "device-filter")
_NEEDED = ("devices", "mig-enabled")
# `1g.5gb`, `1g.10gb+me`, `1c.3g.20gb`, `1g.24gb+gfx`.
_PROFILE = re.compile(r"(?:\d+c\.)?\d+g\.\d+gb(?:[+-][a-z0-9.,+-]+)?\Z")


@rule(
    code="GO076",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/mig-parted main api/spec/v1/spec.go: UnmarshalJSON of Spec and MigConfigSpec",
        "NVIDIA/mig-parted main pkg/types/mig_config.go: AssertValidFormat",
        "github.com/NVIDIA/mig-parted issue 44",
    ),
    needs=(_CONFIGS,),
)
def mig_config_invalid(resource: Resource) -> Iterator[Problem]:
    """Report configurations that the MIG manager refuses."""
    for key, value in mapping(resource.tree, "data").items() if resource.kind == "ConfigMap" else ():
        if isinstance(value, str) and f"{_CONFIGS}:" in value and "{{" not in value:
            found = embedded_mapping(resource.at.child("data", key), value)
            if found is not None and isinstance(found.tree.get(_CONFIGS), dict):
                yield from _faults(found.tree, Place(found))


def _faults(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    if tree.get("version") != "v1":
        yield _refused(
            at.child("version" if "version" in tree else _CONFIGS).key(), "the version must be v1", "`version: v1`"
        )
    yield from _unknown(tree, _TOP, at)
    for name, entries in mapping(tree, _CONFIGS).items():
        place = at.child(_CONFIGS, name)
        if not isinstance(entries, list) or not entries:
            yield _refused(place.key(), f"`{name}` must be a list with at least one entry", "`- devices: all`")
            continue
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                yield from _entry(entry, place.child(index))


def _entry(entry: dict[str, Any], at: Place) -> Iterator[Problem]:
    yield from _unknown(entry, _FIELDS, at)
    for name in _NEEDED:
        if entry.get(name) is None:
            yield _refused(at, f"an entry needs `{name}`", f"`{name}`")
    devices, is_enabled, parts = (entry.get(name) for name in ("devices", "mig-enabled", "mig-devices"))
    if devices is not None and is_known(devices) and not _is_right(devices):
        told = f"`devices: [{devices}]`" if isinstance(devices, int) else "`devices: all`, or a list of indices"
        yield _refused(at.child("devices"), "`devices` must be the word all, or a list of indices", told)
    if is_enabled is not None and not isinstance(is_enabled, bool) and is_known(is_enabled):
        yield _refused(at.child("mig-enabled"), "`mig-enabled` must be true or false", "it without quotes")
    yield from _parts(is_enabled, parts, at)


def _parts(is_enabled: Any, parts: Any, at: Place) -> Iterator[Problem]:
    if is_enabled is True and parts is None:
        yield _refused(at.child("mig-enabled"), "`mig-enabled: true` needs `mig-devices`", "`mig-devices`")
    elif is_enabled is False and parts:
        place = at.child("mig-devices").key()
        yield _refused(place, "`mig-enabled: false` takes no `mig-devices`", "`mig-enabled: true`")
    for profile, count in parts.items() if isinstance(parts, dict) else ():
        place = at.child("mig-devices", profile)
        if isinstance(profile, str) and not _PROFILE.match(profile) and is_known(profile):
            yield _refused(place.key(), f"`{profile}` is not a MIG profile", "one such as `1g.10gb`")
        elif is_known(count) and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
            yield _refused(place, f"the value of `{profile}` is not a number", "a number")


def _is_right(devices: Any) -> bool:
    if isinstance(devices, list):
        return all(isinstance(one, int) and not isinstance(one, bool) for one in devices)
    return bool(devices == "all")


def _unknown(tree: dict[str, Any], fields: tuple[str, ...], at: Place) -> Iterator[Problem]:
    for name in tree:
        if name not in fields and isinstance(name, str) and is_known(name):
            near = closest_match(name, fields, 0.7)
            told = f"`{near}`" if near else f"one of {format_list(f'`{one}`' for one in fields)}"
            yield _refused(at.child(name).key(), f"`{name}` is not a field here", told)


def _refused(at: Place, fault: str, told: str) -> Problem:
    return Problem(at, f"{fault}: the MIG manager refuses the file", f"write {told}")
