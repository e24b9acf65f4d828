"""A DaemonSet for GPU nodes does not tolerate the taint of the only pool of GPU nodes, so it has no pods there.

Exporters, device plugins and discovery run on each GPU node. The nodes of a pool with
`nvidia.com/gpu=true:NoSchedule` refuse them without a toleration. A DaemonSet shows no error then: its number of
wanted pods is zero, no node offers GPUs, and no metrics arrive.

The rule knows agents by the names of their images. It looks at NodePools of Karpenter, node groups of eksctl and node
pools of Config Connector, if all of those that the DaemonSet may select have a taint that it does not tolerate. A
DaemonSet that selects nodes by labels of which the files say nothing is left out. TP023 judges pods that select a pool.

Tolerate the taint.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.node_groups import groups, selected, untolerated
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.run import Pod

_AGENTS = (
    *("dcgm-exporter", "dcgm", "k8s-device-plugin", "gpu-feature-discovery", "k8s-mig-manager", "container-toolkit"),
    *("k8s-dra-driver-gpu", "gpu-operator-validator", "aws-efa-k8s-device-plugin", "neuron-device-plugin"),
    *("cos-gpu-installer", "nvidia-driver-installer"),
)
# Each agent is compared with all pools.
_MOST = 100


@rule(
    code="TP024",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/daemonset: taints and tolerations",
        "github.com/NVIDIA/dcgm-exporter issue 731; github.com/aws-samples/aws-efa-eks pull 3",
    ),
    needs=_AGENTS,
)
def agent_off_tainted_pool(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report agents of GPU nodes that tolerate the taint of no pool."""
    run = context.run
    if run is None or run.kind != "DaemonSet":
        return
    agents = [one for one in (*pod.containers, *pod.init_containers) if short_name(one.image) in _AGENTS]
    known = groups(context.project) if agents else ()
    found = selected(known, pod) if len(known) <= _MOST else []
    taint = untolerated(found, pod)
    if taint is None:
        return
    has_some = bool(pod.tree.get("tolerations"))
    yield Problem(
        pod.at.child("tolerations", 0, "key") if has_some else agents[0].at.child("image"),
        f"the nodes of {found[0].title} have the taint `{taint.written}`, which "
        f"{run.name} does not tolerate: it has no pods there",
        f"tolerate `{taint.key}` with `operator: Exists`",
    )
