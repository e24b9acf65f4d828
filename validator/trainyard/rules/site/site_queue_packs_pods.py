"""Kueue sends two pods of a run to one node, where the run's anti-affinity leaves the second Pending for ever.

Where the levels of the site's topology go down to `kubernetes.io/hostname`, Kueue says for each pod to which node it
goes, also in a run that asks for no topology: it writes the node's name into the pod's selector. It packs pods by the
room that nodes have left and knows nothing of affinity, so pods that do not fill a node are sent to one together. A
required anti-affinity (`placement.spread: required`, the chart's default) then keeps all but the first off it, while
the run holds its quota and its pods wait in the rendezvous.

Write `placement.spread: preferred`, or ask for all GPUs of a node. Pods with four GPUs or more are taken to fill
theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import placement
from validator.facts.kueue import QUEUE
from validator.model import Role
from validator.rule import Context, Problem, rule

NODE = "kubernetes.io/hostname"
GPUS_OF_A_NODE = 4


@rule(
    code="SI010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "tests/e2e/test_queues.py: seen with Kueue v0.19.2 on a kind cluster",
        "kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go: node selectors and taints alone",
    ),
    needs=("podAntiAffinity",),
    of_site=True,
)
def site_queue_packs_pods(role: Role, context: Context) -> Iterator[Problem]:
    """Anti-affinity among pods that Kueue places."""
    site, run = context.site, context.run
    if site is None or site.queues is None or run is None or not run.labels.get(QUEUE) or NODE not in site.levels:
        return
    if sum(container.gpus for container in role.pod.containers) >= GPUS_OF_A_NODE:
        return
    for term in placement.required(role, run, "podAntiAffinity"):
        if term.key == NODE:
            yield Problem(
                term.at,
                "Kueue packs these pods onto nodes by room alone, and this anti-affinity leaves all but one of a node "
                "Pending",
                "write `placement.spread: preferred`, or ask for whole nodes",
                related=site.note("the site's levels", "queues", "topologyLevels"),
            )
