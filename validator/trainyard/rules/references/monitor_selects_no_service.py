"""The ServiceMonitor selects labels that no Service has, so Prometheus gets no target and shows no error.

A ServiceMonitor selects Services by the labels of the Service itself, in `metadata.labels`. The labels of the pods and
the selector of the Service do not count.

The rule applies if a Service in the same file has a port of that name, and no Service of the files has the labels.

Write the labels of the Service in the selector, or add the label to the Service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


@rule(
    code="RF033",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "prometheus-operator v0.93.1 Documentation/getting-started: a ServiceMonitor selects Services by their labels",
        "github.com/prometheus-operator/prometheus-operator issue 4007",
    ),
    needs=("ServiceMonitor",),
)
def monitor_selects_no_service(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report selectors that fit no Service."""
    selector = mapping(resource.tree, "spec", "selector")
    wanted = mapping(selector, "matchLabels")
    if resource.kind != "ServiceMonitor" or not wanted or "matchExpressions" in selector:
        return
    services = context.project.of_kind("Service")
    ports = {text(one, "port") for one in items(resource.tree, "spec", "endpoints")}
    source = resource.at.document.source
    # The Services of a list of monitors come from several charts.
    if _monitors.of(context.project)[id(source)] > 1:
        return
    near = next((one for one in services if one.at.document.source is source and ports & _ports(one)), None)
    if near is None or any(_has(one, wanted) for one in services):
        return
    labels = mapping(near.tree, "metadata", "labels")
    key = next(name for name, value in wanted.items() if labels.get(name) != value)
    told = f"write `{key}: {labels[key]}`" if key in labels else f"add the label `{key}: {wanted[key]}` to the Service"
    yield Problem(
        resource.at.child("spec", "selector", "matchLabels", key),
        f"no Service has the label `{key}: {wanted[key]}`, so Prometheus gets no target",
        told,
        related=((near.at.child("metadata", "labels"), f"the labels of Service `{near.name}`"),),
    )


def _ports(service: Resource) -> set[str]:
    return {text(port, "name") for port in items(service.tree, "spec", "ports")} - {""}


def _has(service: Resource, wanted: dict[str, Any]) -> bool:
    labels = mapping(service.tree, "metadata", "labels")
    return all(labels.get(name) == value for name, value in wanted.items())


_monitors: LastIndex[Project, Counter[int]] = LastIndex(
    lambda project: Counter(id(one.at.document.source) for one in project.of_kind("ServiceMonitor"))
)
