"""The job tolerates the taint of cordoned nodes, so it can return to a node that failed a health check.

Health checks and `kubectl drain` cordon a bad node: it gets the taint `node.kubernetes.io/unschedulable:NoSchedule`,
and the scheduler skips it unless a pod tolerates that taint. A toleration with `operator: Exists` and no `key`
tolerates every taint, including this one and those of health checks. After a GPU fault the restarted worker then lands
on the same node and fails again until the job's retries are used up.

SageMaker HyperPod marks nodes that failed its checks with `sagemaker.amazonaws.com/node-health-status`, and
charts/node-health those in quarantine with `trainyard/quarantined`.

DaemonSets need such tolerations, and get that of cordoned nodes from their controller; training pods do not. A pod
that nothing starts a second time, and a benchmark of nodes such as `all_reduce_perf`, may tolerate everything. Name the
taints of your GPU nodes, such as `nvidia.com/gpu`. If health checks of your cluster mark bad nodes with other taints,
add them to the parameter `taints`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import any_rdma, wants_gpu
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod, Run
from trainyard.startup import NamedTuple


class Parameters(NamedTuple):
    """`taints`: keys of the taints that mark nodes on which training pods must not run."""

    taints: tuple[str, ...] = (
        "node.kubernetes.io/unschedulable",
        "sagemaker.amazonaws.com/node-health-status",
        "trainyard/quarantined",
    )


@rule(
    code="TP012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go: Filter",
        "kubernetes.io/docs/reference/kubernetes-api: Toleration, an empty key with Exists matches all keys and values",
        "docs.aws.amazon.com SageMaker HyperPod: resilience-related Kubernetes labels",
        "github.com/awslabs/awsome-distributed-ai pull 1110",
        "charts/node-health: the taint of a quarantine",
    ),
    parameters=Parameters(),
    needs=("tolerations",),
)
def tolerates_cordoned_node(pod: Pod, context: Context) -> Iterator[Problem]:
    """Tolerations of taints that mark bad nodes."""
    if not wants_gpu(pod) and not any_rdma(pod.containers):
        return
    run = context.run
    if run is not None and (run.kind == "DaemonSet" or _starts_once(run) or _tests(run)):
        return
    for index, toleration in enumerate(items(pod.tree, "tolerations")):
        if not isinstance(toleration, dict) or toleration.get("effect") not in (None, "", "NoSchedule"):
            continue
        key, place = toleration.get("key"), pod.at.child("tolerations", index)
        if key in (None, "") and toleration.get("operator") == "Exists":
            yield Problem(
                place.child("operator"),
                "this toleration has no key, so it tolerates every taint, including that of cordoned nodes",
                "name the taints of your GPU nodes, such as nvidia.com/gpu",
            )
        elif key in context.parameters.taints and (
            toleration.get("operator") == "Exists" or not text(toleration, "value")
        ):
            yield Problem(
                place.child("key"),
                f"the pod tolerates {key}, so it can run on nodes that are marked as bad",
                "remove it",
            )


def _starts_once(run: Run) -> bool:
    """True for a pod without a controller, and for a job without a retry."""
    policy = text(run.spec, "template", "spec", "restartPolicy")
    return run.kind == "Pod" or (run.kind == "Job" and run.spec.get("backoffLimit") == 0 and policy == "Never")


def _tests(run: Run) -> bool:
    """True if a container of the run starts a benchmark of the network, which also proves nodes out of service."""
    words = (word for container in run.containers for command in container.commands for word in command.words)
    return any(word.endswith("_perf") for word in words)
