"""The workload names a KAI queue without a parent, so the KAI scheduler never places its pods.

KAI places pods of leaf queues: those that have a parent. A queue at the top only divides the cluster among its
children. A pod with a top queue in its label stays Pending, with "Unable to schedule pod" and nothing else.

The rule applies if the queue is in the files.

Give the queue a `parentQueue`, or name a queue that has one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import everywhere
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Workload

LABEL = "kai.scheduler/queue"


@rule(
    code="QU018",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=("github.com/kai-scheduler/KAI-Scheduler issues 612 and 621: pods of top-level queues are not scheduled",),
    needs=(LABEL,),
)
def kai_queue_without_parent(run: Workload, context: Context) -> Iterator[Problem]:
    """Report workloads in a queue at the top."""
    for name, at in _queues(run):
        found = [one for one in everywhere(context.project, "Queue", name) if _is_of_kai(one.tree)]
        if len(found) == 1 and not text(found[0].tree, "spec", "parentQueue"):
            yield Problem(
                at,
                f"KAI queue `{name}` has no parent: the scheduler never places the pods of {run.kind} {run.name}",
                f"give `{name}` a `parentQueue`, or name a queue that has one",
                related=((found[0].at.child("spec"), "the queue"),),
            )
            return


def _queues(run: Workload) -> Iterator[tuple[str, Place]]:
    if LABEL in run.labels:
        yield str(run.labels[LABEL]), run.at.child("metadata", "labels", LABEL)
    for role in run.roles:
        if LABEL in role.pod.labels:
            yield str(role.pod.labels[LABEL]), role.pod.template_at.child("metadata", "labels", LABEL)


def _is_of_kai(tree: object) -> bool:
    return group_of(text(tree, "apiVersion")) == "scheduling.run.ai" and bool(mapping(tree, "spec"))
