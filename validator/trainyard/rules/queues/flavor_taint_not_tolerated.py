"""The pods tolerate no taint set of the flavors of their queue, so Kueue never admits the job.

Kueue gives a flavor only to pods that tolerate each of its `nodeTaints` with the effect NoSchedule or NoExecute. It
reads the `tolerations` of the pod template and those of the flavor. If a taint of every flavor is left, the job stays
suspended, and its Workload says `untolerated taint ... in flavor ...`. Admission plugins that add a toleration to pods
come too late: Kueue reads the template of the job.

The rule follows the label `kueue.x-k8s.io/queue-name` to the ClusterQueue, and applies if all ResourceFlavors of a
group are in the files. It leaves out pods with a RuntimeClass and TrainJobs that change their pods, which may add
tolerations.

Tolerate the taint in the pod template. Write the toleration into the flavor if every workload may use its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.queues import Group, flavor_spec, queue_of
from trainyard.analysis.pods.placement import tolerates
from trainyard.analysis.resources.requests import of_pod
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Pod, Role, Run

_EFFECTS = ("NoSchedule", "NoExecute")
# Kueue reads the pods of these kinds themselves, with the tolerations that the API server adds for a resource.
_PODS = ("Pod", "Deployment", "ReplicaSet", "StatefulSet")
_CHANGES = ("podTemplateOverrides", "podSpecOverrides", "runtimePatches")


@rule(
    code="QU081",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go: untolerated taint in flavor",
        "kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration: a toleration matches a taint",
    ),
    needs=("nodeTaints",),
)
def flavor_taint_not_tolerated(role: Role, context: Context) -> Iterator[Problem]:
    """Report pods that no flavor of their queue takes because of its taints."""
    run = context.run
    queue = queue_of(run, context.project) if run is not None and QUEUE in run.labels else None
    if run is None or queue is None or text(role.pod.tree, "runtimeClassName") or any(map(run.spec.get, _CHANGES)):
        return
    asked = of_pod(role.pod)
    for group in queue.groups:
        taints = [] if group.resources.isdisjoint(asked) else _left(group, role.pod, run, context)
        if not taints:
            continue
        names = ", ".join(sorted({text(one, "key") for one in taints}))
        given = items(role.pod.tree, "tolerations")
        yield Problem(
            role.pod.at.child("tolerations").key() if given else run.at.child("metadata", "labels", QUEUE),
            f"the pods do not tolerate `{names}`, which every flavor of ClusterQueue `{queue.name}` has as a taint: "
            "Kueue never admits the job",
            f"tolerate `{text(taints[0], 'key')}` with the effect {text(taints[0], 'effect')}",
            related=((group.flavors[0].at, "the flavors"),),
        )
        return


def _left(group: Group, pod: Pod, run: Run, context: Context) -> list[dict[str, Any]]:
    """Returns a taint of each flavor that keeps the pod away; none if a flavor takes it, or is not in the files."""
    found = []
    for flavor in group.flavors:
        spec = flavor_spec(flavor, context.project)
        taint = _untolerated(spec, pod, run) if spec is not None else None
        if taint is None:
            return []
        found.append(taint)
    return found


def _untolerated(spec: dict[str, Any], pod: Pod, run: Run) -> dict[str, Any] | None:
    given = [mapping(one) for one in (*items(pod.tree, "tolerations"), *items(spec, "tolerations"))]
    added = of_pod(pod) if run.kind in _PODS else ()
    for taint in map(mapping, items(spec, "nodeTaints")):
        parts = text(taint, "key"), str(taint.get("value") or ""), text(taint, "effect")
        is_open = "{" in "".join(parts) or parts[0] in added or parts[2] not in _EFFECTS
        if parts[0] and not is_open and not any(tolerates(one, *parts) for one in given):
            return taint
    return None
