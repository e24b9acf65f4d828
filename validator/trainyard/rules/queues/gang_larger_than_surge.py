"""An update of the Deployment never starts its first new pods: they are fewer than the gang that Volcano waits for.

Volcano makes a PodGroup for each ReplicaSet, and takes its size from the annotation
`scheduling.volcano.sh/group-min-member` of the Deployment. A rolling update creates as many new pods as `maxSurge` and
`maxUnavailable` allow, and more only when these are ready. By default that is a quarter of the replicas, rounded up and
down: one new pod of two. A gang of two waits for the second pod, and the update for the first.

Write `maxSurge: 100%`, a smaller gang, or `strategy: {type: Recreate}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import decimal, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Workload

_LEAST = "scheduling.volcano.sh/group-min-member"


@rule(
    code="QU039",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/volcano-sh/volcano issue 4739",
        "volcano-sh/volcano v1.15.1 pkg/controllers/podgroup/pg_controller_handler.go: group-min-member of the owner",
        "kubernetes v1.34.4 pkg/controller/deployment/util/deployment_util.go: NewRSNewReplicas, ResolveFenceposts",
    ),
    needs=(_LEAST,),
)
def gang_larger_than_surge(run: Workload) -> Iterator[Problem]:
    """Report Deployments that create fewer new pods than their gang has."""
    role = run.roles[0] if run.kind == "Deployment" and run.roles else None
    if role is None or text(role.pod.tree, "schedulerName") != "volcano":
        return
    gang = decimal(str(run.annotations.get(_LEAST)))
    replicas, strategy = role.replicas, mapping(run.spec, "strategy")
    if gang is None or not replicas or gang > replicas or text(strategy, "type") not in ("", "RollingUpdate"):
        return
    rolling = mapping(strategy, "rollingUpdate")
    surge = _pods(rolling.get("maxSurge", "25%"), replicas, up=True)
    missing = _pods(rolling.get("maxUnavailable", "25%"), replicas, up=False)
    if surge is None or missing is None or not 0 < surge + missing < gang:
        return
    new = surge + missing
    yield Problem(
        run.at.child("metadata", "annotations", _LEAST),
        f"the gang needs {gang} pods, but an update creates {new} new pod{'s' if new > 1 else ''} at first: "
        "the update never ends",
        "write `maxSurge: 100%`, or a smaller gang",
        related=(
            (run.at.child("spec", "strategy") if strategy else run.at.child("spec").key(), "the update strategy"),
        ),
    )


def _pods(value: Any, replicas: int, *, up: bool) -> int | None:
    """Returns a number of pods, which may be a percentage of the replicas."""
    written = str(value)
    share = decimal(written.removesuffix("%"))
    if share is None or not written.endswith("%"):
        return share
    return -(-share * replicas // 100) if up else share * replicas // 100
