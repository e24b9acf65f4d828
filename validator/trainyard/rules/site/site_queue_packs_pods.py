"""Kueue assigns two pods of a run to one node, but the run's anti-affinity keeps the second Pending.

If the levels of the site's topology include `kubernetes.io/hostname`, Kueue assigns each pod to a node, even in a run
that requests no topology: it writes the node's name into the pod's node selector. Kueue packs pods by free capacity and
does not consider affinity among pods, so it assigns pods that do not fill a node to the same node. A required
anti-affinity (`placement.spread: required`, to which `auto` comes down for such pods) then allows only the first of
them there. The run holds its quota while its pods wait in the rendezvous.

Write `placement.spread: preferred`, or request all GPUs of a node. The rule assumes that pods with four GPUs or more
fill their node.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import required
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.node_labels import HOSTNAME
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role

GPUS_OF_A_NODE = 4


@rule(
    code="SI010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "tests/e2e/test_queues.py: seen with Kueue v0.19.2 on a kind cluster",
        "kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go: no affinity among pods",
    ),
    needs=("podAntiAffinity",),
    of_site=True,
)
def site_queue_packs_pods(role: Role, context: Context) -> Iterator[Problem]:
    """Anti-affinity among pods that Kueue places."""
    site, run = context.site, context.run
    if site is None or site.queues is None or run is None or not run.labels.get(QUEUE) or HOSTNAME not in site.levels:
        return
    if sum(container.gpus for container in role.pod.containers) >= GPUS_OF_A_NODE:
        return
    for term in required(role, run, "podAntiAffinity"):
        if term.key == HOSTNAME:
            yield Problem(
                term.at,
                "Kueue can assign several of these pods to one node, but this anti-affinity keeps all but one Pending",
                "write `placement.spread: preferred`, or request whole nodes",
                related=site.note("the site's topology levels", "queues", "topologyLevels"),
            )
