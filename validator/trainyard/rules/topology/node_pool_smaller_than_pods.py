"""The pods of a workload together request more than the limits of the NodePool that they select.

Karpenter starts a node only if the capacity of all nodes of the pool stays within `spec.limits`. Pods that no longer
fit stay Pending: "all available instance types exceed limits for nodepool". A limit counts whole nodes, so the pods get
less than it.

The rule compares the replicas of a job or a server with the pool that its node selector or a required affinity names.

Raise the limit of the pool, or ask for fewer pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import everywhere
from trainyard.analysis.pods.placement import required_expressions
from trainyard.analysis.resources.requests import of_pod, pods_of, written
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Pod, Workload

LABEL = "karpenter.sh/nodepool"


@rule(
    code="TP022",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "karpenter.sh/docs/concepts/nodepools: spec.limits",
        "aws/karpenter-provider-aws issue 8068",
    ),
    needs=("NodePool",),
)
def node_pool_smaller_than_pods(run: Workload, context: Context) -> Iterator[Problem]:
    """Report limits of a pool that its pods exceed."""
    asked: dict[str, dict[str, float]] = {}
    for role in run.roles:
        pool = _pool(role.pod)
        for name, quantity in of_pod(role.pod).items() if pool else ():
            total = asked.setdefault(pool, {})
            total[name] = total.get(name, 0.0) + quantity * pods_of(role, run)
    for pool, total in asked.items():
        found = everywhere(context.project, "NodePool", pool)
        for name, limit in mapping(found[0].tree, "spec", "limits").items() if len(found) == 1 else ():
            most, need = parse_quantity(limit), total.get(str(name), 0.0)
            if most is not None and need > most:
                yield Problem(
                    found[0].at.child("spec", "limits", name),
                    f"the pods of {run.kind} `{run.name}` request {written(need, str(name))} {name}, and the nodes of "
                    f"the pool may have {written(most, str(name))}: some pods stay Pending",
                    "raise the limit, or ask for fewer pods",
                    related=((run.at, "the pods that select the pool"),),
                )


def _pool(pod: Pod) -> str:
    """Returns the name of the only pool whose nodes a pod takes; empty if the files do not tell."""
    selected = text(pod.tree, "nodeSelector", LABEL)
    if selected:
        return selected
    listed = [
        [str(value) for value in items(expression, "values")]
        for expression, _ in required_expressions(pod)
        if text(expression, "key") == LABEL and text(expression, "operator") == "In"
    ]
    return listed[0][0] if len(listed) == 1 == len(listed[0]) else ""
