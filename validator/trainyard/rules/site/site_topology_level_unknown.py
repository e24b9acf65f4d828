"""The run requests a topology level that the site's queues do not have, so Kueue never admits it.

The annotations `kueue.x-k8s.io/podset-required-topology` and `-preferred-topology` (`scheduling.queue.topology.level`
in values) hold the label key of a level of Kueue's Topology. Kueue compares it with the levels of the flavors, which
are `queues.topologyLevels` of the site. A level that is not among them fits no flavor, and the run stays suspended with
`no topology domains at level`. Without any levels Kueue rejects every topology request.

Write one of the site's levels.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.jobs.kueue import PREFERRED, QUEUE, REQUIRED, SLICE_REQUIRED
from trainyard.model.run import Pod


@rule(
    code="SI008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.14.0 pkg/cache/scheduler/tas_flavor_snapshot.go: no requested topology level",
        "charts/training-platform templates/queues/topology.yaml: levels",
    ),
    needs=("kueue.x-k8s.io",),
    of_site=True,
)
def site_topology_level_unknown(pod: Pod, context: Context) -> Iterator[Problem]:
    """Levels that no flavor of the site has."""
    site, run = context.site, context.run
    if site is None or site.queues is None or run is None or not run.labels.get(QUEUE):
        return
    for name in (REQUIRED, PREFERRED, SLICE_REQUIRED):
        level = pod.annotations.get(name)
        if not isinstance(level, str) or level in site.levels:
            continue
        near = closest_match(level, site.levels, 0.6)
        hint = f"did you mean `{near}`?" if near is not None else f"the levels are {', '.join(site.levels)}"
        yield Problem(
            pod.template_at.child("metadata", "annotations", name),
            f"the site's queues have no topology level `{level}`: the run is never admitted",
            hint if site.levels else "remove it, or set `queues.topologyLevels` at the site",
            related=site.note("the site's topology levels", "queues", "topologyLevels"),
        )
