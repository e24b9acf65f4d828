"""The training container has no memory limit, so a leak in it can take the memory of the whole node.

Without `limits.memory`, a leaking process or a `/dev/shm` that fills up grows until the node is out of memory. The
kernel then kills processes anywhere on the node: in other runs, or in the pods that keep the node alive. The kubelet
evicts pods, and first those that use more than they requested. A memory-backed volume without `sizeLimit` can take all
memory of the node.

Recipes for whole nodes often leave the limit out on purpose, so the rule needs `--pedantic`. It skips namespaces where
a LimitRange among the files sets a default, and pods with a pod-level limit.

Write `limits.memory`; on GPU nodes this is usually the node's memory divided by the pods on it, less some GiB.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.limits import has_default_limit, runtime_has_limit
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


@rule(
    code="SH009",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#memory-backed-emptydir",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/",
    ),
)
def gpu_pod_without_memory_limit(role: Role, context: Context) -> Iterator[Problem]:
    """Report a GPU container without a memory limit."""
    run = context.run
    if run is None or not has_all_pods(run) or runtime_has_limit(run, "memory"):
        return
    unbound = [
        one for one in shared_memory.accelerated_containers(role) if shared_memory.memory_limit(role.pod, one) is None
    ]
    if unbound and has_default_limit(context.project, run.namespace, "memory"):
        return
    for container in unbound:
        yield Problem(
            quantity_at(run, role, container, "limits", "memory"),
            f"container `{container.name}` has no memory limit and can take all memory of its node",
            "write `limits.memory`",
        )
