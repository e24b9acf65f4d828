"""Two Node Feature Discoveries run in one cluster and take each other's labels off the nodes.

The charts of the GPU operator and of the network operator both bring Node Feature Discovery, and both have it on
unless `nfd.enabled` is false. Each master holds the labels of all nodes to what its own workers report, and the two
are configured differently, in the PCI classes that they report among others. Labels come and go, and with them the
driver and the device plugin of the GPU operator: GPUs of a running job vanish.

Leave one on, that of the GPU operator, and set `nfd.enabled: false` for the other. The rule looks at HelmReleases,
Argo CD Applications and HelmCharts, and at what a chart renders.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.releases import releases
from validator.fields import items, text
from validator.model import Project, Resource
from validator.rule import Problem, rule
from validator.source import Place

# Charts that bring Node Feature Discovery, on by default.
CHARTS = ("gpu-operator", "network-operator")
OWN = "node-feature-discovery"


@rule(
    code="GO010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml: nfd.enabled, node-feature-discovery",
        "Mellanox/network-operator v26.4.1 deployment/network-operator/values.yaml: nfd.enabled; issue 957",
        "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html: nfd.enabled=false",
    ),
    needs=(*CHARTS, OWN, "nfd-master"),
)
def node_feature_discovery_twice(project: Project) -> Iterator[Problem]:
    """A second Node Feature Discovery."""
    found = [*_of_releases(project), *_of_pods(project)]
    for _, at in found[1:]:
        yield Problem(
            at,
            f"this is a second Node Feature Discovery, beside that of {found[0][0]}: both change the nodes' labels",
            "set `nfd.enabled: false` for all but one",
            related=((found[0][1], "the other one"),),
        )


def _of_releases(project: Project) -> list[tuple[str, Place]]:
    charts = [one for one in releases(project) if one.chart in (*CHARTS, OWN)]
    charts.sort(key=lambda one: (*CHARTS, OWN).index(one.chart))
    return [
        (one.chart, one.at if one.chart == OWN or one.flag("nfd", "enabled") is None else one.place("nfd", "enabled"))
        for one in charts
        if one.chart == OWN or one.flag("nfd", "enabled") is not False
    ]


def _of_pods(project: Project) -> Iterator[tuple[str, Place]]:
    for resource in project.of_kind("Deployment", "DaemonSet"):
        for container in items(resource.tree, "spec", "template", "spec", "containers"):
            words = [*items(container, "command"), *items(container, "args")]
            if any(isinstance(word, str) and word.rpartition("/")[2] == "nfd-master" for word in words):
                yield _named(resource), resource.at.child("metadata", "name")


def _named(resource: Resource) -> str:
    release = text(resource.tree, "metadata", "labels", "app.kubernetes.io/instance")
    return f"release {release}" if release else f"{resource.kind} {resource.name}"
