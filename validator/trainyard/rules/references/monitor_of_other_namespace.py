"""The monitor looks in namespaces in which the files have none of its Services or pods, so Prometheus gets no target.

A ServiceMonitor or PodMonitor without `namespaceSelector` looks in its own namespace alone, and `matchNames` lists
all others that it looks in. A monitor in the namespace of Prometheus needs the namespace of the program there.

The rule applies if Services or pods with the labels of the monitor are in the same file or folder, and each of them
is in a namespace that the files write and the monitor leaves out.

Write `namespaceSelector` with `matchNames`, or `any: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.labelled import services_with
from trainyard.analysis.objects.object_references import is_unknown
from trainyard.analysis.pods.selected import selected_anywhere
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project, Resource

_KINDS = ("ServiceMonitor", "PodMonitor")
# A label on so many objects is not that of a program.
_MOST = 20


@rule(
    code="RF062",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "prometheus-operator v0.93.1 pkg/prometheus/promcfg.go: getNamespacesFromNamespaceSelector",
        "github.com/llm-d/llm-d-async pull 359",
    ),
    needs=_KINDS,
)
def monitor_of_other_namespace(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report monitors whose Services or pods are in namespaces that they leave out."""
    if resource.kind not in _KINDS or group_of(resource.api_version) != "monitoring.coreos.com":
        return
    selector, chosen = mapping(resource.tree, "spec", "selector"), mapping(resource.tree, "spec", "namespaceSelector")
    wanted = {str(name): str(value) for name, value in mapping(selector, "matchLabels").items()}
    if not wanted or not resource.namespace or chosen.get("any") is True or any(map(is_unknown, wanted.values())):
        return
    looks = {str(name) for name in items(chosen, "matchNames")} or {resource.namespace}
    found = list(_found(resource, wanted, context.project))
    if not found or len(found) > _MOST or any(is_unknown(name) for name in looks):
        return
    if any(not namespace or namespace in looks or is_unknown(namespace) for namespace, _ in found):
        return
    if not any(distance(at, resource.at) <= SAME_FOLDER for _, at in found):
        return
    namespaces = sorted({namespace for namespace, _ in found})
    what = "Services" if resource.kind == _KINDS[0] else "pods"
    at = resource.at.child("spec", "namespaceSelector").key() if chosen else resource.at.child("metadata", "namespace")
    yield Problem(
        at,
        f"the {what} of the monitor are in namespace {format_list(f'`{one}`' for one in namespaces)}, and it looks in "
        f"{format_list(f'`{one}`' for one in sorted(looks))}: Prometheus gets no target",
        f"write `namespaceSelector: {{matchNames: [{', '.join(namespaces)}]}}`",
        related=((found[0][1], "one of them"),),
    )


def _found(resource: Resource, wanted: dict[str, str], project: Project) -> Iterator[tuple[str, Place]]:
    """Yields the namespaces and places of what has the labels."""
    if resource.kind == _KINDS[0]:
        yield from ((one.namespace, one.at) for one in services_with(project, wanted))
    else:
        yield from ((run.namespace, run.at) for run, _ in selected_anywhere(project, wanted))
