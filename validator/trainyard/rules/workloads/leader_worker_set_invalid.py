"""LeaderWorkerSet rejects the object: a size or a policy is not valid.

Each group of a LeaderWorkerSet has `size` pods, the leader included, so `size` is at least 1. With a `subGroupPolicy`,
the pods of a group are divided: `size` or `size - 1` is a multiple of `subGroupSize`, which is not larger than `size`.
With the type `LeaderExcluded`, `size - 1` must be the multiple. `restartPolicy` is `RecreateGroupOnPodRestart`,
`RecreateGroupAfterStart` or `None`; the values of a pod, such as `OnFailure`, belong into the templates.

The webhook answers with the reason when the object is created. Correct the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import LEADER_WORKER, LEADER_WORKER_RESTARTS, group_of
from trainyard.model.run import Resource


@rule(
    code="WL006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/lws v0.10.0 pkg/webhooks/leaderworkerset_webhook.go: generalValidate",
        "kubernetes-sigs/lws v0.10.0 api/leaderworkerset/v1/leaderworkerset_types.go: RestartPolicyType",
    ),
    needs=(LEADER_WORKER,),
)
def leader_worker_set_invalid(resource: Resource) -> Iterator[Problem]:
    """Report fields that the webhook rejects."""
    if resource.kind != "LeaderWorkerSet" or group_of(resource.api_version) != LEADER_WORKER:
        return
    tree, at = mapping(resource.tree, "spec", "leaderWorkerTemplate"), resource.at.child("spec", "leaderWorkerTemplate")
    size = integer(tree, "size")
    if size is not None and size < 1:
        yield Problem(at.child("size"), f"a group of {size} pods is not valid", "write at least 1, the leader")
    elif tree.get("size") is None or size is not None:
        yield from _sub_groups(tree, size or 1, at)
    policy = text(tree, "restartPolicy")
    if policy and policy not in LEADER_WORKER_RESTARTS:
        yield Problem(
            at.child("restartPolicy"),
            f"`{policy}` is not a restartPolicy of a LeaderWorkerSet",
            "write RecreateGroupOnPodRestart or None; the restart policy of the pods belongs in the template",
        )


def _sub_groups(tree: dict[str, Any], size: int, at: Place) -> Iterator[Problem]:
    policy = mapping(tree, "subGroupPolicy")
    part, place = integer(policy, "subGroupSize"), at.child("subGroupPolicy", "subGroupSize")
    if part is None:
        return
    if part < 1:
        yield Problem(place, f"a subgroup of {part} pods is not valid", "write at least 1")
    elif part > size:
        yield Problem(place, f"a subgroup of {part} pods is larger than the group of {size}", f"write at most {size}")
    elif text(policy, "subGroupPolicyType") == "LeaderExcluded":
        if (size - 1) % part:
            reason = f"the {size - 1} workers cannot be divided into subgroups of {part}"
            yield Problem(place, reason, f"write a divisor of {size - 1}")
    elif size % part and (size - 1) % part:
        reason = f"neither {size} nor {size - 1} pods can be divided into subgroups of {part}"
        yield Problem(place, reason, f"write a divisor of {size} or of {size - 1}")
