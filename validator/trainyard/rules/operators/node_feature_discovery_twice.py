"""Node Feature Discovery is installed twice, and each installation removes the other's node labels.

The charts of the GPU operator and of the network operator both install Node Feature Discovery unless `nfd.enabled` is
false. Each master sets the labels of all nodes to the report of its own workers, and the two are configured
differently, for example in the PCI classes that they report. Labels appear and disappear, and with them the driver and
the device plugin of the GPU operator: a running job loses its GPUs.

Keep the one of the GPU operator, and set `nfd.enabled: false` for the other. The rule checks HelmReleases, Argo CD
Applications and HelmCharts, and the rendered objects of a chart. Objects of one kind, name and namespace are one
installation in the folders of several clusters. If several folders have a Kustomization of Flux with one name, each is
for a cluster of its own, and folders apart from each other are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import NESTED, distance, is_for_several_clusters
from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource

# Charts that install Node Feature Discovery by default.
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
    """A second installation of Node Feature Discovery."""
    found = [*_of_releases(project), *_of_pods(project)]
    is_divided = len(found) > 1 and is_for_several_clusters(project)
    for _, at in found[1:]:
        if is_divided and distance(found[0][1], at) > NESTED:
            continue
        yield Problem(
            at,
            f"Node Feature Discovery is installed twice, also by {found[0][0]}: both change the nodes' labels",
            "set `nfd.enabled: false` for all but one",
            related=((found[0][1], "the other installation"),),
        )


def _of_releases(project: Project) -> list[tuple[str, Place]]:
    charts = list({_object(one.at): one for one in releases(project) if one.chart in (*CHARTS, OWN)}.values())
    charts.sort(key=lambda one: (*CHARTS, OWN).index(one.chart))
    return [
        (one.chart, one.at if one.chart == OWN or one.flag("nfd", "enabled") is None else one.place("nfd", "enabled"))
        for one in charts
        if one.chart == OWN or one.flag("nfd", "enabled") is not False
    ]


def _object(at: Place) -> tuple[str, ...]:
    tree = at.document.tree
    return text(tree, "kind"), text(tree, "metadata", "namespace"), text(tree, "metadata", "name")


def _of_pods(project: Project) -> Iterator[tuple[str, Place]]:
    for resource in project.of_kind("Deployment", "DaemonSet"):
        for container in items(resource.tree, "spec", "template", "spec", "containers"):
            words = [*items(container, "command"), *items(container, "args")]
            if any(isinstance(word, str) and word.rpartition("/")[2] == "nfd-master" for word in words):
                yield _named(resource), resource.at.child("metadata", "name")


def _named(resource: Resource) -> str:
    release = text(resource.tree, "metadata", "labels", "app.kubernetes.io/instance")
    return f"release {release}" if release else f"{resource.kind} {resource.name}"
