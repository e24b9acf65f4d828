"""The device plugin's configuration for shared GPUs has a value that it refuses or a field that it ignores.

With time slicing and with MPS each GPU is offered `replicas` times, and the plugin accepts 2 or more: with 1 it cannot
parse the configuration and its pods do not start, on each node with this configuration. To leave GPUs unshared, use a
configuration without `sharing`.

`renameByDefault`, `failRequestsGreaterThanOne` and `resources` belong under `sharing.timeSlicing` or `sharing.mps`. In
other places the plugin ignores them without a message: the resource keeps its name, or the GPU is not shared.

A name of another resource shares nothing: `nvidia.com/gpus`, or `nvidia.com/gpu.shared`, which is what pods ask for.
The plugin also ignores `rename` of an entry: the resource keeps its name, or gets `.shared` with `renameByDefault`.

Checked are ConfigMaps, and the values of the charts of the GPU operator and of the device plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.constraints import is_known
from trainyard.analysis.resources.gpu_sharing import KINDS, configurations
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

FIELDS = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
LEAST = 2
HOMES = {"timeSlicing": "`sharing`", "mps": "`sharing`", "sharing": "the top level"}
# `resources` at the top level is a field of its own: it names the resources of the GPUs.
OUTSIDE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((), (*FIELDS[:2], *KINDS)),
    (("flags",), (*FIELDS[:2], *KINDS, "sharing")),
    (("flags", "plugin"), (*FIELDS[:2], *KINDS, "sharing")),
    (("sharing",), FIELDS),
)


@rule(
    code="GO013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/k8s-device-plugin v0.20.0 api/config/v1/replicas.go: number of replicas must be >= 2",
        "NVIDIA/k8s-device-plugin v0.20.0 api/config/v1/replicas.go: DisableResourceNamingInConfig",
        "NVIDIA/k8s-device-plugin issues 353, 1022, 1433 and 1548",
    ),
    needs=KINDS,
)
def gpu_sharing_config_invalid(project: Project) -> Iterator[Problem]:
    """Shared GPUs in a form that the device plugin refuses or ignores."""
    for found in configurations(project):
        for path, names in OUTSIDE:
            yield from _misplaced(mapping(found.tree, *path), found.at.child(*path), names)
        for kind in KINDS:
            yield from _replicas(mapping(found.tree, "sharing", kind), found.at.child("sharing", kind))
            yield from _renamed(mapping(found.tree, "sharing", kind), found.at.child("sharing", kind))
            yield from _names(found.tree, kind, found.at.child("sharing", kind))


def _misplaced(tree: dict[str, Any], at: Place, names: tuple[str, ...]) -> Iterator[Problem]:
    for name in names:
        if name in tree:
            home = HOMES.get(name, "`sharing.timeSlicing` or `sharing.mps`")
            yield Problem(
                at.child(name).key(),
                f"the device plugin ignores `{name}` here: its place is {home}",
                f"move it to {home}",
            )


def _names(tree: dict[str, Any], kind: str, at: Place) -> Iterator[Problem]:
    own = {_bare(text(one, "name")) for section in ("gpus", "mig") for one in items(tree, "resources", section)}
    for index, entry in enumerate(items(tree, "sharing", kind, "resources")):
        name = text(entry, "name")
        bare = _bare(name)
        if not name or not is_known(name) or bare in own or bare == "gpu" or bare.startswith("mig-"):
            continue
        yield Problem(
            at.child("resources", index, "name"),
            f"the device plugin offers no `{name}`, so this shares nothing",
            "write `nvidia.com/gpu`, or `nvidia.com/mig-` with a profile",
        )


def _renamed(section: dict[str, Any], at: Place) -> Iterator[Problem]:
    is_shared = section.get("renameByDefault") is True
    for index, entry in enumerate(items(section, "resources")):
        name, wanted = text(entry, "name"), text(entry, "rename")
        if wanted and is_known(wanted) and not (is_shared and _bare(wanted) == f"{_bare(name)}.shared"):
            kept = f"{name}.shared" if is_shared else name
            yield Problem(
                at.child("resources", index, "rename"),
                f"the device plugin ignores `rename`: the resource stays `{kept}`",
                "remove it" if is_shared else "write `renameByDefault: true` for a name with `.shared`",
            )


def _bare(name: str) -> str:
    """Returns a name without the domain that the plugin adds itself."""
    return name.removeprefix("nvidia.com/")


def _replicas(section: dict[str, Any], at: Place) -> Iterator[Problem]:
    for index, entry in enumerate(items(section, "resources")):
        count = entry.get("replicas") if isinstance(entry, dict) else None
        if isinstance(count, int) and not isinstance(count, bool) and count < LEAST:
            yield Problem(
                at.child("resources", index, "replicas"),
                f"`replicas` is {count}: the device plugin does not start with fewer than {LEAST}",
                "remove the entry so that the GPU is not shared, or write 2 or more",
            )
