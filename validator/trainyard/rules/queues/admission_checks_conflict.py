"""Kueue sets the ClusterQueue inactive: its MultiKueue check is for some flavors alone, or stands beside another one.

MultiKueue sends a whole job to another cluster. A queue has at most one such check, which holds for all of its flavors,
and no check that provisions nodes in this cluster. Otherwise the queue is inactive, with the reason in its status, and
its jobs wait forever.

Remove `onFlavors` from the check of MultiKueue, and keep one check, or make two queues.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"


@rule(
    code="QU019",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/clusterqueue.go: inactiveReason",
        "github.com/kubernetes-sigs/kueue issues 2021 and 8347",
    ),
    needs=(MULTIKUEUE,),
)
def admission_checks_conflict(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report checks that make a queue inactive."""
    if resource.kind != "ClusterQueue" or not resource.api_version.startswith("kueue.x-k8s.io/"):
        return
    controllers = {
        one.name: text(one.tree, "spec", "controllerName") for one in context.project.of_kind("AdmissionCheck")
    }
    strategy = ("admissionChecksStrategy", "admissionChecks")
    at, remote = resource.at.child("spec", *strategy), ""
    checks = [(index, one, text(one, "name")) for index, one in enumerate(items(resource.tree, "spec", *strategy))]
    for index, check, name in checks:
        if controllers.get(name) != MULTIKUEUE:
            continue
        if items(check, "onFlavors"):
            fault = f"the check `{name}` of MultiKueue is set for some flavors alone: the queue is inactive"
            yield Problem(at.child(index, "onFlavors").key(), fault, "remove `onFlavors`")
        if remote:
            fault = f"`{remote}` and `{name}` are both checks of MultiKueue: the queue is inactive"
            yield Problem(at.child(index, "name"), fault, "keep one of the two")
        remote = name
    for index, _, name in checks:
        if remote and controllers.get(name) == PROVISIONING:
            fault = (
                f"`{name}` provisions nodes, and `{remote}` of MultiKueue sends the jobs away: the queue is inactive"
            )
            yield Problem(at.child(index, "name"), fault, "keep one of the two checks")
