"""Kueue rejects the ClusterQueue: it limits borrowing or lending, and belongs to no cohort.

A ClusterQueue borrows unused quota from the other queues of its cohort. Without `cohortName` (`cohort` in v1beta1)
there is nothing to borrow, and the webhook answers `borrowingLimit: must be nil when cohort is empty`.

Name the cohort, or remove the limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource

LIMITS = ("borrowingLimit", "lendingLimit")


@rule(
    code="QU001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/pull/1525: borrowingLimit without a cohort is refused",
        "kubernetes-sigs/kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go: validateLimit",
    ),
    needs=LIMITS,
)
def limit_without_cohort(resource: Resource) -> Iterator[Problem]:
    """Report limits of queues without a cohort."""
    spec = mapping(resource.tree, "spec")
    if resource.kind != "ClusterQueue" or group_of(resource.api_version) != "kueue.x-k8s.io":
        return
    if spec.get("cohort") or spec.get("cohortName"):
        return
    for number, group in enumerate(items(spec, "resourceGroups")):
        for place, flavor in enumerate(items(group, "flavors")):
            at = resource.at.child("spec", "resourceGroups", number, "flavors", place, "resources")
            for index, given in enumerate(items(flavor, "resources")):
                for limit in LIMITS:
                    if mapping(given).get(limit) is not None:
                        yield Problem(
                            at.child(index, limit),
                            f"{limit} without a cohort: Kueue rejects ClusterQueue `{resource.name}`",
                            "set cohortName (cohort in v1beta1), or remove the limit",
                        )
