"""A container that trains has no memory limit, so a leak in it takes the memory of the whole node.

Without `limits.memory` a process that leaks, or a `/dev/shm` that fills, grows until the node is out of memory. The
kernel then picks its victims on the node as a whole: other runs, or the pods that keep the node alive. The kubelet
evicts pods, and pods that use more than they asked for go first. A volume in memory without `sizeLimit` may take all
memory of the node.

Namespaces whose LimitRange is among the files and gives a default are left alone, as are limits of the whole pod.

Write `limits.memory`, on GPU nodes usually the node's memory divided by the pods on it, less some GiB.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.aspects.known import has_default_limit, pods_are_whole, runtime_has_limit
from validator.facts.extended_resources import quantity_at
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="SH009",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#memory-backed-emptydir",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/",
    ),
)
def gpu_pod_without_memory_limit(role: Role, context: Context) -> Iterator[Problem]:
    """A GPU container without bound on its memory."""
    run = context.run
    if run is None or not pods_are_whole(run) or runtime_has_limit(run, "memory"):
        return
    unbound = [one for one in shared_memory.accelerated(role) if shared_memory.memory_limit(role.pod, one) is None]
    if unbound and has_default_limit(context.project, run.namespace, "memory"):
        return
    for container in unbound:
        yield Problem(
            quantity_at(run, role, container, "limits", "memory"),
            f"container {container.name} has no memory limit: it may take all memory of its node",
            "write `limits.memory`",
        )
