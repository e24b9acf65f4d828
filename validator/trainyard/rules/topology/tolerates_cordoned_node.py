"""The job tolerates the taint of cordoned nodes, so it is put back on the node that a health check took out.

Health checks and `kubectl drain` cordon a bad node: it gets the taint `node.kubernetes.io/unschedulable:NoSchedule`,
and the scheduler passes it over unless a pod tolerates that taint. A toleration with `operator: Exists` and no `key`
tolerates every taint, this one and those of health checks included. After a GPU fault the restarted worker then lands
on the same node and fails again until the job's retries are used up.

Daemon sets need such tolerations, training pods do not. Name the taints that your GPU nodes carry, such as
`nvidia.com/gpu`. Further taints by which health checks of your cluster mark bad nodes belong into the parameter
`taints`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from validator.facts.devices import any_rdma, wants_gpu
from validator.fields import items, text
from validator.model import Pod
from validator.rule import Context, Problem, rule


class Parameters(NamedTuple):
    """`taints`: keys of the taints that mark a node which must get no training pods."""

    taints: tuple[str, ...] = ("node.kubernetes.io/unschedulable",)


@rule(
    code="TP012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go: Filter",
        "kubernetes.io/docs/reference/kubernetes-api: Toleration, an empty key with Exists matches all keys and values",
    ),
    parameters=Parameters(),
    needs=("tolerations",),
)
def tolerates_cordoned_node(pod: Pod, context: Context) -> Iterator[Problem]:
    """Tolerations of taints that mark bad nodes."""
    if not wants_gpu(pod) and not any_rdma(pod.containers):
        return
    for index, toleration in enumerate(items(pod.tree, "tolerations")):
        if not isinstance(toleration, dict) or toleration.get("effect") not in (None, "", "NoSchedule"):
            continue
        key, place = toleration.get("key"), pod.at.child("tolerations", index)
        if key in (None, "") and toleration.get("operator") == "Exists":
            yield Problem(
                place.child("operator"),
                "this toleration has no key and tolerates every taint, that of cordoned nodes included",
                "name the taints of your GPU nodes, such as nvidia.com/gpu",
            )
        elif key in context.parameters.taints and (
            toleration.get("operator") == "Exists" or not text(toleration, "value")
        ):
            yield Problem(place.child("key"), f"the pod is put on nodes that {key} has taken out", "remove it")
