"""The selector of a workload also fits the pods of another one, so both count the same pods.

Kubernetes asks for selectors that do not overlap. Autoscalers, disruption budgets and `kubectl` find the pods of a
workload by its selector: they also see those of the other one, and scale, protect and show the wrong pods. A
selector cannot be changed later.

The rule looks at Deployments, StatefulSets, DaemonSets and ReplicaSets of one namespace in the same file, or in files
that one kustomization lists. Two that fit each other's pods are reported at the first one. DaemonSets among themselves
are left out: each knows its pods by their owner, and nothing scales them.

Give each workload a label of its own, in its selector and in its template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.neighbours import selected_together
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Run, Workload

_KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
# Two examples show two ways to the same, and a user takes one.
_EXAMPLE = "example"


@rule(
    code="RF044",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/deployment: do not overlap labels or selectors",
        "github.com/mend/renovate-ce-ee pull 506",
    ),
    needs=_KINDS,
)
def selectors_overlap(run: Workload, context: Context) -> Iterator[Problem]:
    """Report selectors that fit the pods of another workload."""
    if run.kind not in _KINDS or not run.roles or not run.name:
        return
    for selector, at in _selectors(run):
        for other, role in selected_together(context.project, selector, run.namespace, run.at):
            if run.kind == other.kind == "DaemonSet":
                continue
            if other.kind in _KINDS and (other.kind, other.name) != (run.kind, run.name):
                if _is_told(other, run, context) or (_EXAMPLE in run.name and _EXAMPLE in other.name):
                    return
                yield Problem(
                    run.at.child("spec", "selector", *at),
                    f"the selector of {run.kind} {run.name} also fits the pods of {other.kind} {other.name}: both "
                    "count the same pods",
                    "give each a label of its own, in the selector and in the template",
                    related=((role.pod.template_at.child("metadata", "labels"), "the labels of the other pods"),),
                )
                return


def _is_told(other: Run, run: Run, context: Context) -> bool:
    """True if the other workload stands before, and its selector fits the pods of this one: it is reported there."""
    places = _places.of(context.project)
    if places.get(id(other), 0) > places.get(id(run), 0):
        return False
    return any(
        found is run
        for selector, _ in _selectors(other)
        for found, _ in selected_together(context.project, selector, other.namespace, other.at)
    )


_places: LastIndex[Project, dict[int, int]] = LastIndex(
    lambda project: {id(run): place for place, run in enumerate(project.runs)}
)


def _selectors(run: Run) -> Iterator[tuple[dict[str, Any], tuple[str | int, ...]]]:
    """Yields the labels that a pod needs, one set for each value of an `In`; nothing if the selector says more."""
    selector = mapping(run.spec, "selector")
    labels, expressions = mapping(selector, "matchLabels"), items(selector, "matchExpressions")
    if any("{" in str(value) or "$" in str(value) for value in labels.values()):
        return
    if not expressions:
        if labels:
            yield labels, ("matchLabels", next(iter(labels)))
        return
    one = mapping(expressions[0])
    if len(expressions) == 1 and one.get("operator") == "In":
        for value in items(one, "values"):
            yield {**labels, text(one, "key"): value}, ("matchExpressions", 0, "key")
