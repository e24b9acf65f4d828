"""Prometheus selects rules, monitors, probes and scrape configurations by labels that this one lacks: it is not loaded.

The operator gives a Prometheus the objects that its `ruleSelector`, `serviceMonitorSelector`, `podMonitorSelector`,
`probeSelector` and `scrapeConfigSelector` select. It leaves out all others without an error or an event: alerts never
fire, and metrics are missing. A release of kube-prometheus-stack selects its own label `release` by default.

The rule looks at objects in the folder of a Prometheus, of an agent or a ThanosRuler, where none of them selects the
object. It leaves out selectors by expressions, and files with a kustomization that adds labels.

Give the object the labels, or select all with `{}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

_GROUP = "monitoring.coreos.com"
_SERVERS = ("Prometheus", "PrometheusAgent", "ThanosRuler")
# The field of a server that selects a kind.
_FIELDS = {
    "PrometheusRule": "ruleSelector",
    "ServiceMonitor": "serviceMonitorSelector",
    "PodMonitor": "podMonitorSelector",
    "Probe": "probeSelector",
    "ScrapeConfig": "scrapeConfigSelector",
}


@rule(
    code="RF056",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "prometheus-operator/prometheus-operator v0.93.0 pkg/apis/monitoring/v1/prometheus_types.go: "
        "ServiceMonitorSelector, PodMonitorSelector, ProbeSelector, ScrapeConfigSelector, RuleSelector",
        "prometheus-operator/prometheus-operator v0.93.0 pkg/apis/monitoring/v1/thanos_types.go: RuleSelector",
        "github.com/prometheus-operator/prometheus-operator issue 2878",
    ),
    needs=_SERVERS,
)
def monitor_not_selected(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report objects that no Prometheus of the folder selects."""
    field = _FIELDS.get(resource.kind)
    if field is None or group_of(resource.api_version) != _GROUP:
        return
    servers = _near(resource, context.project)
    labels = mapping(resource.tree, "metadata", "labels")
    selectors = [mapping(server.tree, "spec").get(field) for server in servers]
    if not selectors or not all(_leaves_out(selector, labels) for selector in selectors):
        return
    if _adds_labels.of(context.project):
        return
    first = servers[0]
    wanted = mapping(selectors[0], "matchLabels")
    missing = [f"{name}: {value}" for name, value in wanted.items() if labels.get(name) != value]
    yield Problem(
        resource.at.child("metadata", "labels").key() if labels else resource.at.child("metadata", "name"),
        f"{first.kind} `{first.name}` does not load {resource.kind} `{resource.name}`: it selects others by labels",
        f"add {format_list(f'`{one}`' for one in missing)}, or write `{field}: {{}}`",
        related=((first.at.child("spec", field), "what it selects"),),
    )


def _near(resource: Resource, project: Project) -> list[Resource]:
    """Returns the servers of the folder that take objects of this kind."""
    return [
        one
        for one in project.of_kind(*_SERVERS)
        if group_of(one.api_version) == _GROUP
        and (one.kind == "Prometheus" or (one.kind == "ThanosRuler") == (resource.kind == "PrometheusRule"))
        and distance(one.at, resource.at) <= SAME_FOLDER
    ]


def _leaves_out(selector: Any, labels: dict[str, Any]) -> bool:
    """True if a selector is plain and does not select these labels."""
    wanted = mapping(selector, "matchLabels")
    words = [*wanted.values(), *labels.values()]
    if not wanted or "matchExpressions" in selector or any("{{" in str(word) or "$" in str(word) for word in words):
        return False
    return any(labels.get(name) != value for name, value in wanted.items())


def _find_labels(project: Project) -> bool:
    """True if a kustomization adds labels to objects."""
    trees = (document.tree for document in project.documents)
    return any(
        isinstance(tree, dict)
        and ("kind" not in tree or tree["kind"] in ("Kustomization", "Component"))
        and ("commonLabels" in tree or isinstance(tree.get("labels"), list))
        for tree in trees
    )


_adds_labels: LastIndex[Project, bool] = LastIndex(_find_labels)
