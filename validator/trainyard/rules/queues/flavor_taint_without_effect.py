"""A taint of the ResourceFlavor keeps no workload away, so Kueue gives the flavor to every workload.

Kueue gives a flavor to pods that tolerate its `nodeTaints`. Two kinds of taints have no effect on this: one with the
effect `PreferNoSchedule`, which Kueue ignores, and one that `tolerations` of the same flavor match. Kueue adds those
tolerations to the pods and counts them as tolerations of the workload. Workloads that are not meant for these nodes,
such as spot or reserved ones, then run there.

Use NoSchedule in `nodeTaints`, and leave the toleration to the pods that may use the flavor. A flavor for all workloads
needs only `tolerations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.pods.placement import tolerates
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource


@rule(
    code="QU002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/pull/4259: PreferNoSchedule is ignored",
        "github.com/kubernetes-sigs/kueue/issues/4646: the flavor tolerates its own taint",
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go: checkFlavorForPodSets",
        "kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2/resourceflavor_types.go: NodeTaints",
    ),
    needs=("nodeTaints",),
)
def flavor_taint_without_effect(resource: Resource) -> Iterator[Problem]:
    """Report taints that keep no workload away."""
    if resource.kind != "ResourceFlavor" or group_of(resource.api_version) != "kueue.x-k8s.io":
        return
    tolerations = items(resource.tree, "spec", "tolerations")
    for index, taint in enumerate(items(resource.tree, "spec", "nodeTaints")):
        at = resource.at.child("spec", "nodeTaints", index)
        if text(taint, "effect") == "PreferNoSchedule":
            yield Problem(
                at.child("effect"),
                "Kueue ignores a taint with the effect PreferNoSchedule: every workload gets the flavor",
                "use NoSchedule to keep workloads without the toleration away",
            )
        elif _is_tolerated(mapping(taint), tolerations):
            yield Problem(
                at.child("key"),
                f"the flavor tolerates its own taint `{text(taint, 'key')}`: every workload gets the flavor",
                "remove the toleration, or the taint if every workload may use the nodes",
            )


def _is_tolerated(taint: dict[str, Any], tolerations: list[Any]) -> bool:
    parts = (str(taint.get("key")), str(taint.get("value") or ""), text(taint, "effect"))
    return any(tolerates(mapping(one), *parts) for one in tolerations)
