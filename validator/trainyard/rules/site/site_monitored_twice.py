"""Prometheus scrapes the run twice, or not at all: the site's monitoring and the run's own monitor do not go together.

charts/training-monitoring scrapes the pods of all runs (`monitoring.monitors.runs`). A run that brings a
ServiceMonitor or a PodMonitor of its own (`metrics.monitor` in values) is then scraped by both: each of its series is
there twice with other labels, and sums over the cluster count it double. Where the site has its monitoring off, nobody
may look at the monitor: whether a Prometheus operator is there from elsewhere, the site does not say.

Leave the monitor away where the site scrapes all runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import sites
from validator.model import Resource
from validator.rule import Context, Problem, rule

KINDS = ("ServiceMonitor", "PodMonitor")


@rule(
    code="SI009",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "charts/training-monitoring values.yaml: monitors.runs; charts/training-job values.yaml: metrics.monitor",
    ),
    needs=KINDS,
    of_site=True,
)
def site_monitored_twice(resource: Resource, context: Context) -> Iterator[Problem]:
    """A monitor beside that of all runs."""
    site = context.site
    if site is None or site.monitoring is None or resource.kind not in KINDS or not context.project.runs:
        return
    # The chart takes the kind from this value, and other monitors from other values.
    at = sites.value_place(resource.at.document, "metrics", "monitor") or resource.at.child("kind")
    if site.monitoring.enabled and site.monitoring.runs:
        yield Problem(
            at,
            f"the site scrapes all runs, and this {resource.kind} scrapes them a second time",
            "leave it away: write `metrics.monitor: none`",
            related=site.note("the site's monitor of all runs", "monitoring", "monitors", "runs"),
        )
    elif not site.monitoring.enabled:
        yield Problem(
            at,
            f"the site's monitoring is off: this {resource.kind} is for a Prometheus from elsewhere, or for none",
            "write `metrics.monitor: none`, or set `monitoring.enabled: true` at the site",
            related=site.note("the site's monitoring", "monitoring", "enabled"),
        )
