"""The job waits for Kueue and names no queue, so it stays suspended.

Kueue takes a job into a queue by the label `kueue.x-k8s.io/queue-name` on the job itself; on the pod template the label
has no effect for job kinds. A job that is created suspended then waits for somebody to admit it, and topology
annotations on its pods are not read. Nothing reports a fault.

A cluster may still take it: by a LocalQueue named `default` in the namespace, or when Kueue is set to manage jobs
without a queue name. Where that is so, turn the rule off.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUNTIMES
from validator.facts.kueue import QUEUE, SLICES, TOPOLOGY_REQUESTS
from validator.fields import mapping
from validator.model import Run
from validator.rule import Context, Problem, rule


@rule(
    code="TP006",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/constants/constants.go: QueueLabel",
        "kueue.sigs.k8s.io/docs/tasks/run: the queue-name label on the job",
    ),
)
def kueue_managed_without_queue(run: Run, context: Context) -> Iterator[Problem]:
    """Jobs that wait for a queue they do not name."""
    if QUEUE in run.labels or run.kind in RUNTIMES:
        return
    queues = context.project.of_kind("LocalQueue")
    if any(queue.name == "default" and queue.namespace in ("", run.namespace) for queue in queues):
        return
    place = run.at.child("metadata", "labels", QUEUE)
    help_ = f"add the label `{QUEUE}` to the job"
    read = (*TOPOLOGY_REQUESTS, *SLICES)
    used = sorted({name for role in run.roles for name in role.pod.annotations if name in read})
    suspended = run.spec.get("suspend") is True or mapping(run.spec, "runPolicy").get("suspend") is True
    if used:
        yield Problem(place, f"Kueue does not read `{used[0]}`: the job names no queue", help_)
    elif suspended:
        yield Problem(place, f"{run.kind} {run.name} is suspended and names no queue that would start it", help_)
