"""An object selects pods by labels that no pod of the files has, though it is meant for those beside it.

A PodDisruptionBudget without pods does not hold a drain back. A PodMonitor gives no target, a NetworkPolicy has no
effect, and an InferencePool no endpoint. No event tells why.

The rule looks at a Deployment, StatefulSet, DaemonSet, Pod or job in the same file and namespace, if no pod of any
file fits the labels. It has the name of the object, and differs in the value of a label or lacks one; or it is the
only one of the file, and the selector wants an empty value of one of its labels. Labels with the domain of an
operator are left out: the operator may create such pods. So are labels that a kustomization adds.

Write labels of the pod template into the selector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.pod_names import may_match
from trainyard.analysis.objects.added_labels import added_labels
from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.folders import folder_of
from trainyard.analysis.objects.object_references import is_unknown, walk
from trainyard.analysis.objects.patches import is_patch
from trainyard.analysis.pods.selected import is_selected
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.object_fields import SELECTORS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Role, Run

_PLAIN = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod")
# Labels of this domain are those of charts, and no controller adds them to the pods of these kinds.
_OF_CHARTS = "app.kubernetes.io/"


@rule(
    code="RF061",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/controller/disruption/disruption.go: getPodsForPdb, event NoPods",
        "prometheus-operator v0.93.1 pkg/prometheus/promcfg.go: generatePodMonitorConfig",
        "github.com/guerzon/vaultwarden issue 162, bank-vaults/vault-operator issue 1064",
        "github.com/defilantech/LLMKube issue 480",
    ),
    needs=tuple(one.kind for one in SELECTORS),
)
def selector_fits_no_pod(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report selectors that fit no pod."""
    for one in SELECTORS:
        if one.kind != resource.kind:
            continue
        for selector, at in walk(resource.tree, resource.at, tuple(one.path.split("."))):
            wanted, place = _wanted(selector, at)
            run = _meant(resource, wanted, context.project) if wanted else None
            if run is None or _may_fit(resource, wanted, context.project):
                continue
            words = ", ".join(f"{key}={value}" for key, value in wanted.items())
            labels = run.roles[0].pod.labels
            key = next((name for name, value in wanted.items() if str(labels.get(name)) != str(value)), "")
            if not key:
                continue
            yield Problem(
                place.child(key),
                f"no pod has `{words}`, not even those of {run.kind} {run.name}: {one.otherwise}",
                f"write `{key}: {labels[key]}`" if key in labels else f"remove `{key}`, or add it to the pod template",
                related=((run.roles[0].pod.template_at.child("metadata", "labels"), "the labels of the pods"),),
            )


def _wanted(selector: Any, at: Place) -> tuple[dict[str, Any], Place]:
    """Returns the labels that a selector wants, with their place; none if they are not plain."""
    labels, place = mapping(selector, "matchLabels"), at.child("matchLabels")
    if not labels and "matchExpressions" not in mapping(selector):
        labels, place = mapping(selector), at
    is_plain = all(isinstance(value, str | int) and not is_unknown(str(value)) for value in labels.values())
    return (labels, place) if is_plain else ({}, place)


def _meant(resource: Resource, wanted: dict[str, Any], project: Project) -> Run | None:
    """Returns the run of the file that an object is for, though its labels do not fit it."""
    runs = [
        run
        for run in few(_runs.of(project).get(resource.at.document.source, ()))
        if run.namespace == resource.namespace and not any(is_patch(role.pod) for role in run.roles)
    ]
    named = [run for run in runs if run.name == resource.name]
    runs = [run for run in runs if run.kind in _PLAIN]
    if len(named) != 1:
        empty = [name for name, value in wanted.items() if value == ""]
        has = len(runs) == 1 and any(runs[0].roles[0].pod.labels.get(name) for name in empty)
        return runs[0] if has else None
    labels, added = named[0].roles[0].pod.labels, added_labels(project)
    for name in wanted:
        # The controllers of jobs add labels of their own to pods, and leave those of the template.
        of_operator = named[0].kind not in _PLAIN or ("/" in name and not name.startswith(_OF_CHARTS))
        if name not in labels and (of_operator or name in added):
            return None
    return named[0]


def _may_fit(resource: Resource, wanted: dict[str, Any], project: Project) -> bool:
    """True if a pod of the files has the labels, or one in the folder to which a controller may add them."""
    if is_selected(project, wanted):
        return True
    others = _others.of(project).get(folder_of(resource.at), [])
    return any(may_match(wanted, role) for role in others)


def _find_runs(project: Project) -> dict[Source, list[Run]]:
    found: dict[Source, list[Run]] = {}
    for run in project.runs:
        if (run.kind in _PLAIN or run.is_job) and run.roles:
            found.setdefault(run.at.document.source, []).append(run)
    return found


def _find_others(project: Project) -> dict[str, list[Role]]:
    """Returns the roles of jobs whose controllers add labels, by their folder."""
    found: dict[str, list[Role]] = {}
    for run in project.runs:
        if run.kind not in _PLAIN:
            found.setdefault(folder_of(run.at), []).extend(run.roles)
    return found


_runs: LastIndex[Project, dict[Source, list[Run]]] = LastIndex(_find_runs)
_others: LastIndex[Project, dict[str, list[Role]]] = LastIndex(_find_others)
