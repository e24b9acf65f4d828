"""The pod selects nodes of a pool whose taint it does not tolerate, so it never runs there.

A toleration fits a taint with its key, its effect and, unless the operator is `Exists`, its value. `operator: Equal`
with `value: present` does not fit `nvidia.com/gpu=true`, and a toleration of `NoSchedule` does not fit `NoExecute`.
The pod stays Pending, and Karpenter starts no node. A DaemonSet shows no pods at all.

The rule looks at NodePools of Karpenter, node groups of eksctl and node pools of Config Connector, if a label that
they set selects them, and at spot pools of AKS, which all have a label and a taint of the platform. It leaves out pools
of which one has no such taint, jobs in a queue of Kueue, whose flavors add tolerations, and taints with the name of a
resource that the pod requests, which an admission plugin tolerates.

Write the toleration with the key, the value and the effect of the taint, or with `operator: Exists`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.node_groups import OF_PLATFORMS, groups, untolerated
from trainyard.analysis.pods.placement import NODE_TERMS, required_expressions
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Pod


@rule(
    code="TP023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration: a toleration matches a taint",
        "karpenter.sh/docs/concepts/nodepools: spec.template.spec.taints; eksctl.io/usage/nodegroup-taints",
        "github.com/NVIDIA/k8s-device-plugin issue 1934",
        "learn.microsoft.com/azure/aks/spot-node-pool; github.com/MicrosoftDocs/azure-aks-docs pull 138",
    ),
    needs=("NodePool", "ClusterConfig", "scalesetpriority"),
)
def pool_taint_not_tolerated(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods that select a pool and do not tolerate its taints."""
    found = (*groups(context.project), *OF_PLATFORMS)
    run = context.run
    if run is None or QUEUE in run.labels:
        return
    asked = {name: (value, at) for name, value, at in _asked(pod) if any(name in one.labels for one in found)}
    if not asked:
        return
    fitting = [one for one in found if all(value in one.labels.get(name, ()) for name, (value, _) in asked.items())]
    taint = untolerated(fitting, pod)
    if taint is None:
        return
    yield Problem(
        next(iter(asked.values()))[1],
        f"the nodes of {fitting[0].title} have the taint `{taint.written}`, and the pod "
        "has no toleration that fits: it never runs there",
        f"tolerate `{taint.key}` with the value `{taint.value}` and the effect {taint.effect}"
        if taint.value
        else f"tolerate `{taint.key}`",
    )


def _asked(pod: Pod) -> Iterator[tuple[str, str, Place]]:
    """Yields the labels that the nodes of the pod must have, each with one value."""
    for name, value in mapping(pod.tree, "nodeSelector").items():
        yield str(name), str(value), pod.at.child("nodeSelector", name)
    for one, at in required_expressions(pod) if len(items(pod.tree, *NODE_TERMS)) == 1 else ():
        values = items(one, "values")
        if mapping(one).get("operator") == "In" and len(values) == 1:
            yield text(one, "key"), str(values[0]), at.child("key")
