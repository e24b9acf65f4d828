"""The workload is in another node pool than its queue, so the scheduler that sees it does not know the queue.

KAI Scheduler may be split into shards. The shard with the `partitionLabelValue` POOL sees the nodes, queues and pods
with the label `kai.scheduler/node-pool: POOL`. The default shard sees those without this label. A pod without the
label stays Pending in a queue that has it, and the other way round: "Queue does not exist".

Give the pods the label of the queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.constraints import is_known
from trainyard.analysis.objects.known_objects import everywhere
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Workload

QUEUE = "kai.scheduler/queue"
POOL = "kai.scheduler/node-pool"


@rule(
    code="QU033",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kai-scheduler/KAI-Scheduler docs/scheduling-shards: partitionLabelValue, and objects without the label",
        "github.com/ai-dynamo/grove issue 490, github.com/kai-scheduler/KAI-Scheduler issue 1045",
    ),
    needs=(POOL,),
)
def kai_pool_differs(run: Workload, context: Context) -> Iterator[Problem]:
    """Report workloads outside of the pool of their queue."""
    for name, at, pool in _queues(run):
        found = [one for one in everywhere(context.project, "Queue", name) if _is_of_kai(one.tree)]
        if len(found) != 1:
            continue
        wanted = text(found[0].tree, "metadata", "labels", POOL)
        if wanted != pool and is_known(wanted) and is_known(pool):
            its = f"has the label `{POOL}: {wanted}`" if wanted else f"has no label `{POOL}`"
            yield Problem(
                at,
                f"KAI queue `{name}` {its}, and {run.kind} {run.name} does not match: another shard sees it",
                f"add the label `{POOL}: {wanted}` here" if wanted else f"remove `{POOL}` here",
                related=((found[0].at.child("metadata"), "the queue"),),
            )
            return


def _queues(run: Workload) -> Iterator[tuple[str, Place, str]]:
    """Yields the name and place of each queue, with the pool of the object that names it."""
    own = str(run.labels.get(POOL, ""))
    if QUEUE in run.labels:
        pools = {str(role.pod.labels.get(POOL, own)) for role in run.roles} or {own}
        yield str(run.labels[QUEUE]), run.at.child("metadata", "labels", QUEUE), next(iter(sorted(pools)))
    for role in run.roles:
        if QUEUE in role.pod.labels and role.pod.template_at != run.at:
            place = role.pod.template_at.child("metadata", "labels", QUEUE)
            yield str(role.pod.labels[QUEUE]), place, str(role.pod.labels.get(POOL, own))


def _is_of_kai(tree: object) -> bool:
    return group_of(text(tree, "apiVersion")) == "scheduling.run.ai" and bool(mapping(tree, "spec"))
