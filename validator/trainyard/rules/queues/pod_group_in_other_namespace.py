"""The pods name a PodGroup that these files define in another namespace only, so Volcano never schedules them.

The annotation `scheduling.k8s.io/group-name` names a PodGroup in the namespace of the pod. The scheduler does not find
one of another namespace: the pods stay pending, without an event.

Create the PodGroup in the namespace of the pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import only_elsewhere
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod

GROUP = "scheduling.k8s.io/group-name"


@rule(
    code="QU009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/volcano-sh/volcano/issues/604: a pod with the PodGroup of another namespace",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/cache/event_handlers.go: the job of a pod is namespace/group",
    ),
    needs=(GROUP,),
)
def pod_group_in_other_namespace(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report groups that are in another namespace."""
    name, run = pod.annotations.get(GROUP), context.run
    if run is None or not isinstance(name, str):
        return
    at = pod.template_at.child("metadata", "annotations", GROUP)
    found = only_elsewhere(context.project, "PodGroup", name, run.namespace, at)
    if found:
        yield Problem(
            at,
            f"PodGroup `{name}` is in namespace `{found[0].namespace}`, but the pods are in `{run.namespace}`: "
            "they are never scheduled",
            f"create the PodGroup in namespace `{run.namespace}`",
            related=((found[0].at.child("metadata", "namespace"), "the namespace of the PodGroup"),),
        )
