"""A set has the name of a StatefulSet that a LeaderWorkerSet makes for a group, and one of the two gets no pods.

A LeaderWorkerSet `llama` makes the StatefulSet `llama` for its leaders, and `llama-0`, `llama-1` and so on for the
workers of each group. A second LeaderWorkerSet `llama-1` needs a StatefulSet of this name for its leaders. The one that
comes later never gets its pods: the other one owns the StatefulSet.

The rule compares LeaderWorkerSets and StatefulSets of a namespace in one file.

Rename one of them, so that no name is that of another one with a dash and a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import LEADER_WORKER, group_of
from trainyard.model.run import Project, Resource

_TEMPLATE = "leaderWorkerTemplate"


@rule(
    code="WL026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/lws v0.6.0 pkg/controllers/pod_controller.go: constructWorkerStatefulSetApplyConfiguration",
        "github.com/kubernetes-sigs/lws issue 236",
    ),
    needs=(LEADER_WORKER,),
)
def leader_worker_sets_overlap(project: Project) -> Iterator[Problem]:
    """Report sets with the name of a group of another set."""
    makers = {_key(one, one.name): one for one in project.of_kind("LeaderWorkerSet") if _is_leader_worker_set(one)}
    for resource in project.of_kind("LeaderWorkerSet", "StatefulSet") if makers else ():
        base, _, number = resource.name.rpartition("-")
        maker = makers.get(_key(resource, base))
        if maker is None or not number.isdecimal() or str(int(number)) != number:
            continue
        groups, size = integer(maker.tree, "spec", "replicas"), integer(maker.tree, "spec", _TEMPLATE, "size")
        if int(number) < (1 if groups is None else groups) and (size or 1) > 1:
            yield Problem(
                resource.at.child("metadata", "name"),
                f"the LeaderWorkerSet `{base}` makes a StatefulSet `{resource.name}` for its group {number}",
                "give it another name",
                related=((maker.at.child("metadata", "name"), "the other set"),),
            )


def _is_leader_worker_set(resource: Resource) -> bool:
    return group_of(resource.api_version) == LEADER_WORKER


def _key(resource: Resource, name: str) -> tuple[str, str, str]:
    return resource.at.document.source.name, resource.namespace, name
