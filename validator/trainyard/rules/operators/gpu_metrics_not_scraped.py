"""Alerts or scaling use metrics of GPUs, and the values of the chart switch off what Prometheus scrapes them by.

The charts of the GPU operator and of dcgm-exporter create a ServiceMonitor. With `serviceMonitor.enabled: false`
Prometheus does not know the exporter: rules on `DCGM_` metrics evaluate to nothing and never fire, and KEDA or an HPA
sees no load and never scales. Neither shows an error.

The rule applies if no other ServiceMonitor, PodMonitor or ScrapeConfig of the files names the exporter, and neither
annotations nor text in the files configure a scrape of it.

Write `serviceMonitor.enabled: true`, with the labels that your Prometheus selects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_PATHS = {"gpu-operator": ("dcgmExporter", "serviceMonitor"), "dcgm-exporter": ("serviceMonitor",)}
_METRIC = re.compile(r"\bDCGM_FI_[A-Z0-9_]+\b")
_EXPORTER = re.compile(r"dcgm|nvidia|gpu", re.IGNORECASE)
_MONITORS = ("ServiceMonitor", "PodMonitor", "ScrapeConfig", "Probe", "VMServiceScrape", "VMPodScrape", "PodMonitoring")
_SCRAPED = re.compile(
    r"scrape_configs|prometheus\.io/scrape|additionalScrapeConfigs|otel|opentelemetry|prometheus\.scrape"
)


@rule(
    code="GO081",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml: dcgmExporter.serviceMonitor",
        "NVIDIA/dcgm-exporter deployment/values.yaml: serviceMonitor",
        "github.com/NVIDIA/aicr pull 157",
    ),
    needs=tuple(_PATHS),
)
def gpu_metrics_not_scraped(project: Project) -> Iterator[Problem]:
    """Report charts without a monitor whose metrics something uses."""
    for release in releases(project):
        path = _PATHS.get(release.chart)
        if path is None or release.flag(*path, "enabled") is not False or _is_scraped(project):
            continue
        used = next(_uses(project), None)
        if used is not None:
            metric, at = used
            yield Problem(
                release.place(*path, "enabled"),
                f"no ServiceMonitor is created, so Prometheus has no {metric}, which the files use",
                "write `true`, with the labels that your Prometheus selects",
                related=((at, "the metric"),),
            )


def _is_scraped(project: Project) -> bool:
    monitors = (str(mapping(one.tree, "spec")) + one.name for one in project.of_kind(*_MONITORS))
    return any(_EXPORTER.search(one) for one in monitors) or any(
        _SCRAPED.search(source.text) for source in project.sources
    )


def _uses(project: Project) -> Iterator[tuple[str, Place]]:
    """Yields the metrics of GPUs in rules of alerts and in triggers, and their places."""
    for resource in project.of_kind("PrometheusRule"):
        for number, group in enumerate(items(resource.tree, "spec", "groups")):
            for index, one in enumerate(items(group, "rules")):
                yield from _found(one, "expr", resource.at.child("spec", "groups", number, "rules", index))
    for resource in project.of_kind("ScaledObject", "ScaledJob"):
        for index, trigger in enumerate(items(resource.tree, "spec", "triggers")):
            at = resource.at.child("spec", "triggers", index, "metadata")
            yield from _found(mapping(trigger, "metadata"), "query", at)
    for resource in project.of_kind("HorizontalPodAutoscaler"):
        for index, metric in enumerate(items(resource.tree, "spec", "metrics")):
            for kind in ("pods", "object", "external"):
                at = resource.at.child("spec", "metrics", index, kind, "metric")
                yield from _found(mapping(metric, kind, "metric"), "name", at)


def _found(tree: Any, field: str, at: Place) -> Iterator[tuple[str, Place]]:
    found = _METRIC.search(text(tree, field))
    if found is not None:
        yield found[0], at.child(field)
