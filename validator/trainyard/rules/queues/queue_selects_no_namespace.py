"""The ClusterQueue has no namespace selector, so it admits no job of any namespace.

A missing `namespaceSelector` selects nothing, and an empty one, `{}`, selects every namespace. Every Workload stays
pending with "workload namespace doesn't match ClusterQueue selector".

The rule leaves out a queue of a cohort that no LocalQueue in the files names: it only lends its quota to the others.

Write `namespaceSelector: {}`, or the labels of the namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
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
def queue_selects_no_namespace(resource: Resource, context: Context) -> Iterator[Problem]:
    """Queues without a namespace selector."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "ClusterQueue" or not resource.api_version.startswith("kueue.x-k8s.io/"):
        return
    if (spec.get("cohort") or spec.get("cohortName")) and not any(
        text(local.tree, "spec", "clusterQueue") == resource.name for local in context.project.of_kind("LocalQueue")
    ):
        return
    # A queue without resources admits nothing on purpose: a template, or a patch.
    if spec.get("namespaceSelector") is None and items(spec, "resourceGroups"):
        yield Problem(
            resource.at.child("spec").key(),
            f"ClusterQueue `{resource.name}` has no namespaceSelector, which selects no namespace: it admits no job",
            "write `namespaceSelector: {}` for all namespaces",
        )
