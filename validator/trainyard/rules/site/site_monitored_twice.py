"""Prometheus scrapes the run twice, or not at all, because its monitor does not fit the site's monitoring.

charts/training-monitoring scrapes the pods of all runs (`monitoring.monitors.runs`). If a run has its own
ServiceMonitor or PodMonitor (`metrics.monitor` in values), both scrape it: each of its series exists twice with
different labels, and sums over the cluster count it double. If the site's monitoring is off, possibly nothing reads the
monitor; the site's values do not show a Prometheus operator that was installed separately.

Remove the monitor if the site scrapes all runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import sites
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

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
    """A run's own monitor beside the site's monitor of all runs."""
    site = context.site
    if site is None or site.monitoring is None or resource.kind not in KINDS:
        return
    if not any(run.is_job for run in context.project.runs):
        return
    # In values the finding belongs to `metrics.monitor`, from which the chart takes the kind.
    at = sites.value_place(resource.at.document, "metrics", "monitor") or resource.at.child("kind")
    if site.monitoring.enabled and site.monitoring.runs:
        yield Problem(
            at,
            f"the site already scrapes all runs, so this {resource.kind} scrapes the run a second time",
            "remove it: write `metrics.monitor: none`",
            related=site.note("the site's monitor of all runs", "monitoring", "monitors", "runs"),
        )
    elif not site.monitoring.enabled:
        yield Problem(
            at,
            f"the site's monitoring is off: this {resource.kind} needs a separate Prometheus operator",
            "write `metrics.monitor: none`, or set `monitoring.enabled: true` at the site",
            related=site.note("the site's monitoring", "monitoring", "enabled"),
        )
