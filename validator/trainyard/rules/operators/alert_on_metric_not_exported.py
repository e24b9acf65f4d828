"""An alert uses a GPU metric that dcgm-exporter does not export, so it never fires.

Without a metrics list of its own, dcgm-exporter serves about thirty metrics. They do not include ECC errors, CRC errors
and replays of NVLink, clock throttle reasons, `DCGM_FI_PROF_SM_ACTIVE` or the count of XIDs. A PrometheusRule that
queries one of these is accepted, evaluates to nothing and is shown as healthy. The failing link that the alert was
written for is then found by the people whose job is slow.

Give dcgm-exporter a list with the metric: a ConfigMap with the key `dcgm-metrics.csv`, named by
`dcgmExporter.config.name` of the ClusterPolicy. The rule checks PrometheusRules beside a ClusterPolicy, and reads the
ConfigMap if it is among the files. It reports a metric once for each object, and says nothing if the files start a
second dcgm-exporter, which may have a list of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.dcgm import SERVED
from trainyard.facts.images import short_name
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

METRIC = re.compile(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+\b")
_EXPORTER = "dcgm-exporter"


@rule(
    code="GO012",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 assets/state-dcgm-exporter/0800_daemonset.yaml: dcp-metrics-included.csv",
        "NVIDIA/dcgm-exporter etc/dcp-metrics-included.csv: what is commented out is not served",
    ),
    needs=("PrometheusRule",),
)
def alert_on_metric_not_exported(resource: Resource, context: Context) -> Iterator[Problem]:
    """Alerts on metrics that dcgm-exporter does not serve."""
    served = _served.of(context.project) if resource.kind == "PrometheusRule" else None
    if served is None:
        return
    reported: set[str] = set()
    for expression, at in _expressions(resource):
        for metric in dict.fromkeys(METRIC.findall(expression)):
            if metric not in served and metric not in reported:
                reported.add(metric)
                yield Problem(
                    at,
                    f"dcgm-exporter does not serve {metric} with this ClusterPolicy, so the alert never fires",
                    "add the metric to a ConfigMap that `dcgmExporter.config.name` names",
                )


def _find_served(project: Project) -> frozenset[str] | None:
    """The metrics that dcgm-exporter serves; None if the files do not tell."""
    policies = project.of_kind("ClusterPolicy")
    if not policies or _has_own_exporter(project):
        return None
    for policy in policies:
        exporter = mapping(policy.tree, "spec", "dcgmExporter")
        if exporter.get("enabled") is False:
            return None
        name = text(exporter, "config", "name")
        variables = [text(entry, "name") for entry in items(exporter, "env")]
        if not name:
            return None if "DCGM_EXPORTER_COLLECTORS" in variables else SERVED
        lists = [one for one in project.of_kind("ConfigMap") if one.name == name]
        return frozenset(METRIC.findall(_uncommented(mapping(lists[0].tree, "data")))) if lists else None
    return None


def _has_own_exporter(project: Project) -> bool:
    """True if the files start an exporter beside that of the operator, which may serve any metric."""
    pods = (role.pod for run in project.runs for role in run.roles)
    if any(short_name(one.image) == _EXPORTER for pod in pods for one in pod.containers):
        return True
    charts = project.of_kind("HelmRelease", "Application", "HelmChart")
    return any(_EXPORTER in str(chart.tree.get("spec")) for chart in charts)


def _uncommented(data: dict[str, Any]) -> str:
    lines = "\n".join(str(value) for value in data.values()).split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _expressions(resource: Resource) -> Iterator[tuple[str, Place]]:
    for number, group in enumerate(items(resource.tree, "spec", "groups")):
        for index, one in enumerate(items(group, "rules")):
            if text(one, "expr"):
                yield text(one, "expr"), resource.at.child("spec", "groups", number, "rules", index, "expr")


_served: LastIndex[Project, frozenset[str] | None] = LastIndex(_find_served)
