"""The version of a driver ends with an operating system, which the GPU operator appends itself: there is no such image.

The operator makes the tag of the image from the version and the system of each node: `570.86.15` becomes
`570.86.15-ubuntu22.04`. From `570.86.15-ubuntu22.04` it makes `570.86.15-ubuntu22.04-ubuntu22.04`, and the pods of the
driver stay in ImagePullBackOff. Only a digest is taken as it is.

The rule looks at the driver, `gds`, `gdrcopy` and `vgpuManager` of a ClusterPolicy, of an NVIDIADriver and of the chart
`gpu-operator`. Other components, such as the container toolkit, have their system in the version.

Write the version without the system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_PARTS = ("driver", "gds", "gdrcopy", "vgpuManager")
_SYSTEM = re.compile(
    r"-((?:ubuntu|rhel|rhcos|centos|rocky|ol|sles|sl-micro|flatcar|fedora|debian)[0-9]{1,4}(?:\.[0-9]{1,4}){0,3})"
)


@rule(
    code="GO075",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: resolveDriverTag",
        "NVIDIA/gpu-operator v26.7.0 api/nvidia/v1alpha1/nvidiadriver_types.go: GetImagePath",
        "github.com/NVIDIA/gpu-operator issue 1200",
    ),
    needs=("gpu-operator", "ClusterPolicy", "NVIDIADriver"),
)
def driver_version_with_system(project: Project) -> Iterator[Problem]:
    """Report versions with a system."""
    for policy in project.of_kind("ClusterPolicy"):
        if policy.api_version.startswith("nvidia.com/"):
            yield from _of_parts(mapping(policy.tree, "spec"), policy.at.child("spec"))
    for driver in project.of_kind("NVIDIADriver"):
        spec, at = mapping(driver.tree, "spec"), driver.at.child("spec")
        yield from _problem(spec, at)
        yield from _of_parts({name: spec.get(name) for name in _PARTS[1:]}, at)
    for release in releases(project):
        if release.chart == "gpu-operator":
            yield from _of_parts(release.values, release.place())


def _of_parts(tree: dict[str, Any], at: Place) -> Iterator[Problem]:
    for name in _PARTS:
        part = mapping(tree, name)
        # Nothing pulls the image of a part that is off.
        if part.get("enabled") is not False:
            yield from _problem(part, at.child(name))


def _problem(part: dict[str, Any], at: Place) -> Iterator[Problem]:
    version = text(part, "version")
    head, dash, _ = version.partition("-")
    found = _SYSTEM.fullmatch(version, len(head)) if dash else None
    if found is not None:
        yield Problem(
            at.child("version"),
            f"the operator appends the system to the version, and `{version}` has one: there is no such image",
            f"write `{head}`",
        )
