"""Multus is installed twice, so pods get their networks from one of the two or from none.

Each copy writes its own `00-multus.conf` into the nodes' CNI folder, names the socket or the binary of its own version
in it, and delegates to the first configuration that it finds, which may be the other copy. The copy that started last
answers. If one of them is removed, its configuration or its binary goes with it, and no pod of the node starts:
`failed to find plugin "multus-shim" in path`.

Multus is installed by `secondaryNetwork.multus` of a NicClusterPolicy, by many distributions (OpenShift, RKE2), by the
chart training-networks and by its own manifests. Keep one: set `multus.enabled: false` in the chart, or remove `multus`
from the policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.run import Project, Resource

PROGRAMS = ("multus-daemon", "thin_entrypoint")


@rule(
    code="GO011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.2.2 pkg/server/config/manager.go: 00-multus.conf; deployments/*.yml",
        "Mellanox/network-operator v26.4.1 manifests/state-multus-cni: DaemonSet kube-multus-ds",
    ),
    needs=("multus",),
)
def multus_installed_twice(project: Project) -> Iterator[Problem]:
    """A second installation of Multus."""
    found = [*_of_policies(project), *_of_pods(project)]
    for name, at in found[1:]:
        if name == found[0][0]:
            # The same object in another file: one of them replaces the other.
            continue
        yield Problem(
            at,
            f"Multus is installed twice, also by {found[0][0]}: both write the nodes' 00-multus.conf",
            "keep one of them",
            related=((found[0][1], "the other installation"),),
        )


def _of_policies(project: Project) -> Iterator[tuple[str, Place]]:
    for policy in project.of_kind("NicClusterPolicy"):
        if mapping(policy.tree, "spec", "secondaryNetwork", "multus"):
            at = policy.at.child("spec", "secondaryNetwork", "multus").key()
            yield f"NicClusterPolicy {policy.name}", at


def _of_pods(project: Project) -> Iterator[tuple[str, Place]]:
    for resource in project.of_kind("DaemonSet"):
        if any(_is_multus(container) for container in items(resource.tree, "spec", "template", "spec", "containers")):
            yield _named(resource), resource.at.child("metadata", "name")


def _is_multus(container: object) -> bool:
    words = [word for field in ("command", "args") for word in items(container, field) if isinstance(word, str)]
    image = short_name(text(container, "image"))
    return any(word.rpartition("/")[2] in PROGRAMS for word in words) or (not words and image == "multus-cni")


def _named(resource: Resource) -> str:
    return f"DaemonSet {resource.namespace}/{resource.name}" if resource.namespace else f"DaemonSet {resource.name}"
