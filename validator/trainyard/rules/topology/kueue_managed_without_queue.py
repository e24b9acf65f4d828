"""The job waits for Kueue but names no queue, so it stays suspended.

Kueue queues a job by the label `kueue.x-k8s.io/queue-name` on the job itself; on the pod template the label has no
effect for job kinds. A job that is created suspended then waits forever to be admitted, and Kueue does not read the
topology annotations on its pods. Nothing reports an error.

A cluster may still admit the job: by a LocalQueue named `default` in the namespace, or if Kueue is configured to manage
jobs without a queue name. Turn the rule off for such a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.jobs.kueue import QUEUE, SLICES, TOPOLOGY_REQUESTS
from trainyard.facts.jobs.workloads import PLAIN
from trainyard.model.run import Run


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
    """Jobs that wait for Kueue without naming a queue."""
    if QUEUE in run.labels or run.kind in RUNTIMES or is_volcano(run):
        return
    # Kueue also manages single pods, and the `suspend` of a CronJob is not its own.
    if run.kind in PLAIN and (run.kind == "CronJob" or any(QUEUE in role.pod.labels for role in run.roles)):
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
        yield Problem(place, f"Kueue ignores `{used[0]}` because the job names no queue", help_)
    elif suspended:
        yield Problem(place, f"{run.kind} {run.name} is suspended but names no queue, so nothing starts it", help_)
