"""The ClusterQueue has no namespace selector, so it admits no job of any namespace.

A missing `namespaceSelector` selects nothing, and an empty one, `{}`, selects every namespace. Every Workload stays
pending with "workload namespace doesn't match ClusterQueue selector".

Write `namespaceSelector: {}`, or the labels of the namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="QU015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2/clusterqueue_types.go: null is a nothing selector",
        "github.com/djinnos/djinn pull 2841",
    ),
    needs=("ClusterQueue",),
)
def queue_selects_no_namespace(resource: Resource) -> Iterator[Problem]:
    """Queues without a namespace selector."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "ClusterQueue" or not resource.api_version.startswith("kueue.x-k8s.io/"):
        return
    # A queue without resources admits nothing on purpose: a template, or a patch.
    if spec.get("namespaceSelector") is None and items(spec, "resourceGroups"):
        yield Problem(
            resource.at.child("spec").key(),
            f"ClusterQueue `{resource.name}` has no namespaceSelector, which selects no namespace: it admits no job",
            "write `namespaceSelector: {}` for all namespaces",
        )
