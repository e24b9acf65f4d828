"""The GPU operator takes a precompiled driver, and the version is a full one, so there is no image of that tag.

With `usePrecompiled`, the operator looks for the tag of a version, a kernel and a system, as in
`550-5.15.0-1061-gke-ubuntu22.04`. NVIDIA publishes these images by the branch of the driver, which is the first
number. A full version, as 550.90.07, makes a tag that does not exist. The chart has a full version by default, so
values that switch `usePrecompiled` on set the branch too.

An own registry may have images with full versions: the rule reports values without a registry, or with NVIDIA's.

Write the branch, as in `version: "550"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project
from trainyard.startup import pattern

_FULL = pattern(r"([0-9]{3})(?:\.[0-9]{1,4}){1,2}")
_REGISTRY = "nvcr.io/nvidia"
_FLAG = "usePrecompiled"


@rule(
    code="GO082",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 api/nvidia/v1alpha1/nvidiadriver_types.go: GetPrecompiledImagePath",
        "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/precompiled-drivers.html",
        "github.com/NVIDIA/gpu-operator issues 933 and 1251",
    ),
    needs=(_FLAG,),
)
def precompiled_driver_version(project: Project) -> Iterator[Problem]:
    """Report full versions of precompiled drivers."""
    for policy in project.of_kind("ClusterPolicy"):
        yield from _problem(mapping(policy.tree, "spec", "driver"), policy.at.child("spec", "driver"))
    for resource in project.of_kind("NVIDIADriver"):
        yield from _problem(mapping(resource.tree, "spec"), resource.at.child("spec"))
    for release in releases(project):
        if release.chart == "gpu-operator":
            driver = mapping(release.values, "driver")
            yield from _problem(driver, release.place("driver"))
            if driver.get(_FLAG) is True and "version" not in driver and not release.is_open and _is_public(driver):
                yield Problem(
                    release.place("driver", _FLAG),
                    "a precompiled driver needs its branch as the version, and the chart has a full version by default",
                    'add `version` with the branch, such as "580"',
                )


def _problem(driver: dict[str, Any], at: Place) -> Iterator[Problem]:
    version = _FULL.fullmatch(text(driver, "version"))
    if driver.get(_FLAG) is True and driver.get("enabled") is not False and version is not None and _is_public(driver):
        yield Problem(
            at.child("version"),
            f"images of precompiled drivers have the branch in their tag, and `{version[0]}` is a full version",
            f'write the branch, "{version[1]}"',
            related=((at.child(_FLAG), _FLAG),),
        )


def _is_public(driver: dict[str, Any]) -> bool:
    return text(driver, "repository") in ("", _REGISTRY)
