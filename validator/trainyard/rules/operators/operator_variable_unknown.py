"""A component of the GPU operator does not read the environment variable, which looks like one that it reads.

The operator adds the variables below `env` to the container of the component, whatever their names are. The installer
of the container toolkit finds the configuration and the socket of containerd with `CONTAINERD_CONFIG` and
`CONTAINERD_SOCKET`: on K3s, RKE2 and MicroK8s these are elsewhere than by default. With `CONTAINERD_SOCKET_PATH` it
writes the default file, and no pod gets the runtime `nvidia`.

The rule looks at the toolkit, the device plugin and GPU feature discovery, in a ClusterPolicy and in the values of a
release. It reports names that differ slightly from a known one, and for the toolkit all unknown names of a container
runtime's settings.

Write the name that the message gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import KINDS, releases_of
from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.toolkit_variables import BY_COMPONENT, OF_INSTALLER
from trainyard.model.run import Resource

_CHART = "gpu-operator"
# Names of settings are long, and those of two settings differ in a word.
_ALIKE = 0.85


@rule(
    code="GO102",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/toolkit_variables.py: the variables of each component, and their sources",
        "docs.nvidia.com/datacenter/cloud-native/gpu-operator: custom configuration for containerd",
        "github.com/NVIDIA/gpu-operator issue 374",
    ),
    fix="unsafe",
    needs=("ClusterPolicy", _CHART),
)
def operator_variable_unknown(resource: Resource) -> Iterator[Problem]:
    """Report variables that no release of a component reads."""
    if resource.kind == "ClusterPolicy" and resource.api_version.startswith("nvidia.com/"):
        for component in BY_COMPONENT:
            at = resource.at.child("spec", component, "env")
            yield from _unknown(component, items(resource.tree, "spec", component, "env"), at)
    for release in releases_of(resource) if resource.kind in KINDS else ():
        if release.chart == _CHART and release.values_at is not None:
            for component in BY_COMPONENT:
                yield from _unknown(component, items(release.values, component, "env"), release.place(component, "env"))


def _unknown(component: str, entries: list[Any], at: Place) -> Iterator[Problem]:
    known = BY_COMPONENT[component]
    for index, entry in enumerate(entries):
        name = text(entry, "name")
        if not name or name in known:
            continue
        place = at.child(index, "name")
        near = closest_match(name, known, _ALIKE)
        is_setting = component == "toolkit" and name.startswith(OF_INSTALLER)
        if near is None and is_setting:
            near = next((one for one in known if name.startswith(f"{one}_") and "_" in one), None)
        if near is None and not is_setting:
            continue
        yield Problem(
            place,
            f"`{component}` reads no variable {name}: the setting has no effect",
            f"did you mean `{near}`?" if near else "write the name of a setting of the toolkit, or remove it",
            (SetValue(place, near),) if near else (),
        )
