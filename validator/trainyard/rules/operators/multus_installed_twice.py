"""Two installations of Multus share the nodes, and pods get their networks from either or from none.

Each copy writes a configuration `00-multus.conf` of its own into the nodes' folder, names the socket or the program of
its own version in it, and delegates to what it finds there first, which may be the other copy. Which one answers
depends on which started last. When one of them is removed, its configuration or its program goes with it, and no pod
of the node starts: `failed to find plugin "multus-shim" in path`.

Multus comes with `secondaryNetwork.multus` of a NicClusterPolicy, with many distributions (OpenShift, RKE2), with the
chart training-networks and from its own manifests. Keep one: `multus.enabled: false` in the chart, or no `multus` in
the policy.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import items, mapping, text
from validator.model import Project, Resource
from validator.rule import Problem, rule
from validator.source import Place

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
    """A second Multus."""
    found = [*_of_policies(project), *_of_pods(project)]
    for _, at in found[1:]:
        yield Problem(
            at,
            f"this is a second Multus, beside that of {found[0][0]}: both write the nodes' 00-multus.conf",
            "keep one of them",
            related=((found[0][1], "the other one"),),
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
    image = text(container, "image").partition("@")[0].rpartition("/")[2].partition(":")[0]
    return any(word.rpartition("/")[2] in PROGRAMS for word in words) or (not words and image == "multus-cni")


def _named(resource: Resource) -> str:
    return f"DaemonSet {resource.namespace}/{resource.name}" if resource.namespace else f"DaemonSet {resource.name}"
