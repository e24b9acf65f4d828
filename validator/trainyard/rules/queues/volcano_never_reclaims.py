"""Queues let others reclaim what they borrow, and the scheduler has no action that does so.

`reclaimable: true` of a Volcano queue lets the action `reclaim` end its pods when another queue wants its share back.
The default actions are `enqueue, allocate, backfill`, and `preempt` works within one queue alone. Without `reclaim`, a
queue keeps what it borrowed until its jobs end.

The rule applies if the files have one configuration of Volcano's scheduler and several queues, one of which says
`reclaimable: true`.

Add `reclaim` to `actions`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import volcano_configurations
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project

_RECLAIM = frozenset(("reclaim", "gangreclaim"))


@rule(
    code="QU034",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/scheduler/actions/reclaim/reclaim.go",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/util.go: defaultSchedulerConf",
        "github.com/volcano-sh/volcano issue 2964",
    ),
    needs=("reclaimable",),
)
def volcano_never_reclaims(project: Project) -> Iterator[Problem]:
    """Report schedulers that never reclaim, beside queues that may be reclaimed."""
    queues = [one for one in project.of_kind("Queue") if group_of(one.api_version) == "scheduling.volcano.sh"]
    given = next((one for one in queues if mapping(one.tree, "spec").get("reclaimable") is True), None)
    if given is None or len(queues) < 2:
        return
    found = [one for resource in project.of_kind("ConfigMap") for one in volcano_configurations(resource)]
    if len(found) != 1:
        return
    tree, at = found[0]
    actions = {name.strip() for name in text(tree, "actions").split(",")} - {""}
    if actions and not actions & _RECLAIM:
        yield Problem(
            at.child("actions"),
            f"the scheduler has no action `reclaim`, so `reclaimable: true` of queue `{given.name}` has no effect",
            "add `reclaim`, such as `enqueue, allocate, preempt, reclaim, backfill`",
            related=((given.at.child("spec", "reclaimable"), "the queue"),),
        )
