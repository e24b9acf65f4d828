"""The disruption budget demands as many pods as the workload has, so no drain of a node can ever evict one.

`minAvailable: 1` protects a server with two pods. With one pod, or with as many as `minAvailable` says, the budget
allows no disruption: `kubectl drain` repeats "Cannot evict pod as it would violate the pod's disruption budget", an
upgrade of the nodes stops or ends by force after an hour, and an autoscaler cannot remove the node.

The rule looks at Deployments and StatefulSets with a number of pods in the same file or kustomization, and leaves out
those that an autoscaler scales. A budget with `maxUnavailable: 0` says plainly that nothing may be evicted.

Write `maxUnavailable: 1`, run one more pod, or remove the budget.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.neighbours import selected_together
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

_KIND, _LEAST = "PodDisruptionBudget", "minAvailable"
_AUTOSCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


@rule(
    code="WL037",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/controller/disruption/disruption.go: getExpectedPodCount, updatePdbStatus",
        "kubernetes.io/docs/tasks/run-application/configure-pdb: minAvailable of 100% or of all pods",
        "github.com/kubestellar/console issue 6994",
    ),
    needs=(_LEAST,),
)
def budget_allows_no_eviction(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report budgets that demand all pods of a workload."""
    least = mapping(resource.tree, "spec").get(_LEAST)
    selector = mapping(resource.tree, "spec", "selector")
    if resource.kind != _KIND or least is None or set(selector) != {"matchLabels"}:
        return
    labels = mapping(selector, "matchLabels")
    found = selected_together(context.project, labels, resource.namespace, resource.at) if labels else []
    if len(found) != 1:
        return
    run = found[0][0]
    pods = integer(run.spec, "replicas")
    if run.kind not in ("Deployment", "StatefulSet") or not pods or run.name in _scaled.of(context.project):
        return
    is_all = least >= pods if isinstance(least, int) else str(least) == "100%"
    if is_all:
        yield Problem(
            resource.at.child("spec", _LEAST),
            f"`{_LEAST}` demands {least} of the {pods} pod{'s'[: pods > 1]} of {run.kind} {run.name}: no drain can "
            "evict one",
            "write `maxUnavailable: 1`, or run more pods",
            related=((run.at.child("spec", "replicas"), "the number of pods"),),
        )


def _find_scaled(project: Project) -> frozenset[str]:
    return frozenset(text(one.tree, "spec", "scaleTargetRef", "name") for one in project.of_kind(*_AUTOSCALERS))


# The names of workloads that an autoscaler scales.
_scaled: LastIndex[Project, frozenset[str]] = LastIndex(_find_scaled)
