"""The MIG strategy is `single`, but the MIG configuration creates devices of several profiles on a GPU.

With `single` the device plugin offers all devices as `nvidia.com/gpu`, and requires that all are alike. With more than
one profile it stops with "more than one MIG device type present on node", and the node offers no GPU. `mixed` offers a
resource per profile, such as `nvidia.com/mig-1g.10gb`.

The label `nvidia.com/mig.config` of a node chooses a configuration of the ConfigMap `migManager.config.name`. The rule
reports the strategy if each configuration there that makes MIG devices has several profiles. Without the label, a node
gets the layout of `migManager.config.default`: `all-balanced` of the operator's own ConfigMap has several profiles. The
ConfigMap may be a value of the chart, `migManager.config.data`.
`single` is the default of the GPU operator's chart. The chart of the device plugin alone has `migStrategy`, and names
no ConfigMap: the rule takes the one with MIG configurations in the files, if there is only one.

Set the strategy to `mixed`, or use a configuration with one profile.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

DEFAULT = "single"
FILE = "config.yaml"
# The layout of the operator's own ConfigMap with several profiles on each GPU.
MIXED, OWN = "all-balanced", ("", "default-mig-parted-config")


class Chosen(NamedTuple):
    """The strategy, its place, and the section of the MIG manager, None if something else cuts the GPUs.

    `config_at` is the place of the section, None if it is text in the object.
    """

    strategy: str
    at: Place
    config: dict[str, Any] | None
    config_at: Place | None = None


@rule(
    code="GO016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/k8s-device-plugin v0.20.0 internal/rm/device_map.go: assertAllMigDevicesAreValid",
        "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml: mig.strategy, migManager.config",
        "NVIDIA/gpu-operator issues 286, 460 and 479, NVIDIA/k8s-device-plugin issue 397",
    ),
    needs=("migManager", "mig-configs"),
)
def mig_single_with_mixed_profiles(project: Project) -> Iterator[Problem]:
    """Several profiles with the strategy for one."""
    for chosen in _chosen(project):
        if chosen.strategy != DEFAULT:
            continue
        config = chosen.config
        if config is not None and text(config, "default") == MIXED and text(config, "name") in OWN:
            yield Problem(
                chosen.at,
                f"the MIG strategy is single, but the default layout `{MIXED}` creates several profiles on each GPU",
                "set the strategy to mixed",
            )
        default = text(config, "default")
        for name, tree, at in (*_files(project, config), *_of_values(chosen)):
            wanted = (default,) if default in mapping(tree, "mig-configs") else tuple(mapping(tree, "mig-configs"))
            profiles = [(len(devices), place) for devices, place in _devices(tree, wanted, at) if devices]
            if profiles and all(count > 1 for count, _ in profiles):
                yield Problem(
                    chosen.at,
                    f"the MIG strategy is single, but {name} creates several profiles",
                    "set the strategy to mixed",
                    related=((profiles[0][1], f"{profiles[0][0]} profiles"),),
                )


def _devices(tree: dict[str, Any], wanted: tuple[str, ...], at: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the profiles that each part of these configurations makes."""
    for name in wanted:
        for index, entry in enumerate(items(mapping(tree, "mig-configs"), name)):
            if isinstance(entry, dict):
                yield mapping(entry, "mig-devices"), at.child("mig-configs", name, index, "mig-devices")


def _chosen(project: Project) -> Iterator[Chosen]:
    for release in releases(project):
        if release.chart == "gpu-operator":
            strategy = text(release.values, "mig", "strategy") or DEFAULT
            config = mapping(release.values, "migManager", "config")
            at = release.place("migManager", "config") if release.values_at is not None else None
            yield Chosen(strategy, release.place("mig", "strategy"), config, at)
        elif release.chart == "nvidia-device-plugin":
            yield Chosen(text(release.values, "migStrategy"), release.place("migStrategy"), None)
    for resource in project.of_kind("ClusterPolicy"):
        spec = mapping(resource.tree, "spec")
        config = mapping(spec, "migManager", "config")
        yield Chosen(text(spec, "mig", "strategy"), resource.at.child("spec", "mig", "strategy"), config)


def _files(project: Project, config: dict[str, Any] | None) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """Yields the file of the chosen ConfigMap; that of the only one with MIG configurations if none is chosen."""
    known = _by_name.of(project)
    if config is None:
        found = list(itertools.chain.from_iterable(known.values()))
        found = found if len(found) == 1 else []
    else:
        found = list(few(known.get(text(config, "name"), ())))
    for resource in found:
        inner = embedded_mapping(resource.at.child("data", FILE), text(resource.tree, "data", FILE))
        if inner is not None:
            yield resource.name, inner.tree, Place(inner)


def _of_values(chosen: Chosen) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """Yields the file that the values of the chart hold."""
    written = text(chosen.config, "data", FILE)
    if chosen.config_at is not None and "mig-configs" in written:
        inner = embedded_mapping(chosen.config_at.child("data", FILE), written)
        if inner is not None:
            yield text(chosen.config, "name") or FILE, inner.tree, Place(inner)


def _find_holders(project: Project) -> dict[str, list[Resource]]:
    """Returns the ConfigMaps with MIG configurations by their names."""
    found: dict[str, list[Resource]] = {}
    for one in project.of_kind("ConfigMap"):
        if "mig-configs" in text(one.tree, "data", FILE):
            found.setdefault(one.name, []).append(one)
    return found


_by_name: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_find_holders)
