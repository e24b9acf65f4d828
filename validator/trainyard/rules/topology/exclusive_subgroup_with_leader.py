"""A subgroup must have one domain for itself, and its leader and its workers select nodes of different ones.

With the annotation `leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology`, LeaderWorkerSet places each subgroup in
one domain of that label. The leader is of the first subgroup. If it selects the pool of nodes with CPUs and the workers
that with GPUs, no pool fits all pods of the subgroup, and they stay Pending.

The rule applies if the domain is a pool of nodes or a node, and to any domain that both select by its label.

Write `subGroupPolicyType: LeaderExcluded`: the leader is then in no subgroup.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import LEADER_WORKER, group_of
from trainyard.model.run import Resource

_EXCLUSIVE = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
# All nodes of one of these domains have the same labels, so that two values of a label are never in one.
_ALIKE = (
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool", "agentpool",
    "karpenter.sh/nodepool", "kubernetes.io/hostname", "node.kubernetes.io/instance-type",
)  # fmt: skip


@rule(
    code="TP043",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubernetes-sigs/lws issue 257",
        "kubernetes-sigs/lws v0.10.0 pkg/webhooks/pod_webhook.go: SetExclusiveAffinities of the subgroup",
        "kubernetes-sigs/lws keps/257-Subgroup-leader-only: LeaderExcluded",
    ),
    needs=("subgroup-exclusive-topology",),
)
def exclusive_subgroup_with_leader(resource: Resource) -> Iterator[Problem]:
    """Report leaders that select other nodes than the workers of their subgroup."""
    if resource.kind != "LeaderWorkerSet" or group_of(resource.api_version) != LEADER_WORKER:
        return
    domain = text(resource.tree, "metadata", "annotations", _EXCLUSIVE)
    tree, at = mapping(resource.tree, "spec", "leaderWorkerTemplate"), resource.at.child("spec", "leaderWorkerTemplate")
    policy = mapping(tree, "subGroupPolicy")
    if not domain or not policy or text(policy, "subGroupPolicyType") == "LeaderExcluded":
        return
    leader = mapping(tree, "leaderTemplate", "spec", "nodeSelector")
    workers = mapping(tree, "workerTemplate", "spec", "nodeSelector")
    for label, value in leader.items():
        if label in workers and workers[label] != value and (label == domain or domain in _ALIKE):
            yield Problem(
                at.child("subGroupPolicy").key(),
                f"the leader is of the first subgroup, which must fit in one {domain}, and selects `{label}: {value}`, "
                f"while its workers select `{workers[label]}`: no domain fits both",
                "write `subGroupPolicyType: LeaderExcluded`",
                related=((at.child("leaderTemplate", "spec", "nodeSelector", label), "what the leader selects"),),
            )
            return
