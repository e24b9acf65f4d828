"""The pods request nothing that their ClusterQueue counts, so Kueue admits the job at once and assigns no flavor.

Kueue counts the requests of the pods, CPU and memory included, and gives each the flavor of a resource that the
ClusterQueue covers. A pod without such requests uses no quota and gets no flavor: any number of jobs run at once, on
any node, because the node selector of the flavor is not added either.

The rule follows the label `kueue.x-k8s.io/queue-name` to the LocalQueue and the ClusterQueue in the files. It leaves
out pods with claims for devices, which Kueue counts under names of its configuration (`deviceClassMappings`).

State requests for CPU and memory in the containers, and the accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.queues import queue_of
from trainyard.analysis.objects.known_objects import has_kind
from trainyard.analysis.resources.requests import of_container
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role, Run

# Kueue counts the pods themselves. Source: kubernetes-sigs/kueue v0.19.2 pkg/workload: assignments of `pods`.
_PODS = "pods"


@rule(
    code="QU003",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/issues/1407: no flavor for pods without requests",
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go: assignFlavors",
    ),
    needs=("ClusterQueue",),
)
def queue_ignores_job(run: Run, context: Context) -> Iterator[Problem]:
    """Report roles that request nothing which the queue covers."""
    queue = queue_of(run, context.project) if QUEUE in run.labels else None
    # A LimitRange gives requests to containers without any.
    if queue is None or not queue.groups or has_kind(context.project, "LimitRange"):
        return
    covered = {name for group in queue.groups for name in group.resources}
    for role in run.roles:
        # The configuration of Kueue gives claims for devices the name of a resource, which may be any of these.
        if role.pod.tree.get("resourceClaims"):
            continue
        if role.pod.containers and role.replicas and not _requested(role) & covered and _PODS not in covered:
            yield Problem(
                role.pod.containers[0].at.child("resources"),
                f"the pods request nothing that ClusterQueue `{queue.name}` covers: Kueue assigns no flavor and counts "
                "no quota",
                f"state requests for {', '.join(sorted(covered))}",
            )


def _requested(role: Role) -> set[str]:
    """Returns the resources that the pods of a role request in any way."""
    pod = role.pod
    found = {name for one in (*pod.containers, *pod.init_containers) for name in of_container(one)}
    whole = mapping(pod.tree, "resources")
    found.update(name for field in ("requests", "limits") for name in mapping(whole, field))
    # Classes of runtimes with an overhead count as well.
    return found | ({"cpu", "memory"} if pod.tree.get("runtimeClassName") else set())
