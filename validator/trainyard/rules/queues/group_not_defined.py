"""The job names a PodGroup or a WorkloadPriorityClass that no file defines, although one beside it is unused.

A scheduler of gangs leaves a pod alone whose PodGroup does not exist: scheduler-plugins starts its pods one by one or
keeps them Pending, and Volcano waits for the group. Kueue refuses a job whose label `kueue.x-k8s.io/priority-class`
names no WorkloadPriorityClass; a PriorityClass of Kubernetes is none.

The rule looks at files in one folder. It applies if they define an object of this kind that nothing names, or a
PriorityClass with the name of that label.

Write the name of the object that the files define.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import is_known
from trainyard.document.document import Place
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project, Run
from trainyard.startup import NamedTuple

_PRIORITY = "kueue.x-k8s.io/priority-class"
_OF_KUEUE = "WorkloadPriorityClass"
_LABELS = {
    "scheduling.x-k8s.io/pod-group": ("PodGroup", "scheduling.x-k8s.io"),
    _PRIORITY: (_OF_KUEUE, "kueue.x-k8s.io"),
}
_ANNOTATIONS = {
    "scheduling.k8s.io/group-name": ("PodGroup", "scheduling.volcano.sh"),
    "scheduling.volcano.sh/group-name": ("PodGroup", "scheduling.volcano.sh"),
}


class _Name(NamedTuple):
    kind: str
    group: str
    name: str
    at: Place


@rule(
    code="QU021",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/scheduler-plugins v0.34.7 pkg/coscheduling/core/core.go: GetPodGroup by the label",
        "volcano-sh/volcano v1.15.1 docs: scheduling.k8s.io/group-name",
        "kueue.sigs.k8s.io/docs/concepts/workload_priority_class: the label names a WorkloadPriorityClass",
    ),
    needs=("PodGroup", _OF_KUEUE, _PRIORITY),
)
def group_not_defined(project: Project) -> Iterator[Problem]:
    """Report names of groups and priorities beside an unused object of their kind."""
    found = [one for run in project.runs for one in _named(run)]
    used = {(one.kind, one.name) for one in found}
    done: set[tuple[str, str]] = set()
    for one in found:
        if (one.kind, one.name) in done or is_known(project, one.kind, one.name):
            continue
        done.add((one.kind, one.name))
        free = [
            other
            for other in project.of_kind(one.kind)
            if group_of(other.api_version) == one.group
            and (one.kind, other.name) not in used
            and distance(other.at, one.at) <= SAME_FOLDER
        ]
        if one.kind == _OF_KUEUE and not free:
            yield from _of_kubernetes(one, project)
        elif free and not any(has_parameter(other.name) for other in free):
            yield Problem(
                one.at,
                f"no file defines the {one.kind} `{one.name}`, and nothing names the {one.kind} `{free[0].name}`",
                f"did you mean `{free[0].name}`?",
                related=((free[0].at.child("metadata", "name"), "the unused one"),),
            )


def _of_kubernetes(one: _Name, project: Project) -> Iterator[Problem]:
    for other in project.of_kind("PriorityClass"):
        if other.name == one.name and distance(other.at, one.at) <= SAME_FOLDER:
            yield Problem(
                one.at,
                f"`{one.name}` is a PriorityClass, and the label names a WorkloadPriorityClass of Kueue",
                "define a WorkloadPriorityClass, or remove the label: Kueue reads `priorityClassName` too",
                related=((other.at.child("kind"), "the PriorityClass"),),
            )


def _named(run: Run) -> Iterator[_Name]:
    metadata = run.at.child("metadata")
    yield from _read(run.labels, metadata.child("labels"), _LABELS)
    for role in run.roles:
        place = role.pod.template_at.child("metadata")
        if place.path != metadata.path:
            yield from _read(role.pod.labels, place.child("labels"), _LABELS)
        yield from _read(role.pod.annotations, place.child("annotations"), _ANNOTATIONS)


def _read(tree: dict[str, Any], at: Place, table: dict[str, tuple[str, str]]) -> Iterator[_Name]:
    for key, (kind, group) in table.items():
        name = tree.get(key)
        if isinstance(name, str) and name and not has_parameter(name) and "$" not in name:
            yield _Name(kind, group, name, at.child(key))
