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

from trainyard.analysis.objects.added_labels import added_labels
from trainyard.analysis.objects.folders import folder_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

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
    servers = _by_folder.of(context.project).get((folder_of(resource.at), field))
    labels = mapping(resource.tree, "metadata", "labels")
    if servers is None or servers.may_take(labels):
        return
    if added_labels(context.project):
        return
    first = servers.first
    wanted = mapping(first.tree, "spec", field, "matchLabels")
    missing = [f"{name}: {value}" for name, value in wanted.items() if labels.get(name) != value]
    yield Problem(
        resource.at.child("metadata", "labels").key() if labels else resource.at.child("metadata", "name"),
        f"{first.kind} `{first.name}` does not load {resource.kind} `{resource.name}`: it selects others by labels",
        f"add {format_list(f'`{one}`' for one in missing)}, or write `{field}: {{}}`",
        related=((first.at.child("spec", field), "the labels that it selects"),),
    )


class _Servers(NamedTuple):
    """The servers of a folder that take objects of a kind; `selectors` are found by one of their labels.

    `is_open` is true if one of them may take any object: what it selects is not plain.
    """

    first: Resource
    is_open: bool
    selectors: dict[tuple[str, str], list[dict[str, Any]]]

    def may_take(self, labels: dict[str, Any]) -> bool:
        """True if one of the servers selects these labels, or may do so."""
        if self.is_open or _has_placeholder(labels):
            return True
        near = (wanted for name, value in labels.items() for wanted in self.selectors.get((name, str(value)), ()))
        return any(wanted.items() <= labels.items() for wanted in near)


def _find_servers(project: Project) -> dict[tuple[str, str], _Servers]:
    """Returns the servers by their folder and the field that selects."""
    found: dict[tuple[str, str], _Servers] = {}
    for server in project.of_kind(*_SERVERS):
        if group_of(server.api_version) != _GROUP:
            continue
        for field in _fields(server):
            selector = mapping(server.tree, "spec", field)
            wanted = mapping(selector, "matchLabels")
            is_open = not wanted or "matchExpressions" in selector or _has_placeholder(wanted)
            key = folder_of(server.at), field
            known = found.get(key) or _Servers(server, False, {})
            found[key] = known._replace(is_open=known.is_open or is_open)
            if wanted:
                name, value = next(iter(wanted.items()))
                known.selectors.setdefault((name, str(value)), []).append(wanted)
    return found


def _fields(server: Resource) -> Iterator[str]:
    """Yields the fields by which a server of this kind selects."""
    for kind, field in _FIELDS.items():
        if server.kind == "Prometheus" or (server.kind == "ThanosRuler") == (kind == "PrometheusRule"):
            yield field


def _has_placeholder(labels: dict[str, Any]) -> bool:
    return any("{{" in str(value) or "$" in str(value) for value in labels.values())


_by_folder: LastIndex[Project, dict[tuple[str, str], _Servers]] = LastIndex(_find_servers)
