"""A GPU pod has no toleration for the GPU taint, so it stays Pending on clusters that taint GPU nodes.

Clusters often taint GPU nodes with `nvidia.com/gpu:NoSchedule` to keep other pods off. With the admission plugin
`ExtendedResourceToleration`, every pod that requests the resource gets the toleration automatically; with Kueue a
resource flavor can add it. Otherwise the pod waits with `node(s) had untolerated taint`. The files do not show which of
these the cluster has.

The rule ignores runs with a Kueue queue.

Write a toleration with the resource's name as its key and `operator: Exists`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.document import Append
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role


@rule(
    code="RS007",
    severity="info",
    confidence="low",
    since="0.1.0",
    sources=(
        "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration",
        "policy: a toleration in the manifest works on every cluster",
    ),
    fix="safe",
)
def gpu_pod_without_toleration(role: Role, context: Context) -> Iterator[Problem]:
    """A GPU pod without a toleration for the GPU taint."""
    run = context.run
    if run is None or not has_all_pods(run) or QUEUE in run.labels or QUEUE in role.pod.labels:
        return
    key = _taint(role)
    if key is None or _tolerates(role, key):
        return
    at = role.pod.at.child("tolerations")
    toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
    yield Problem(
        at.key(),
        f"pods of {role.name} request GPUs but do not tolerate the taint {key}",
        f"add a toleration with `key: {key}` and `operator: Exists`",
        (Append(at, toleration),),
    )


def _taint(role: Role) -> str | None:
    for container in role.pod.containers:
        for resource in {**container.requests, **container.limits} if container.gpus else ():
            if is_accelerator(resource):
                # Nodes with MIG devices have the taint of the vendor's GPUs.
                return "nvidia.com/gpu" if resource.startswith("nvidia.com/") else str(resource)
    return None


def _tolerates(role: Role, key: str) -> bool:
    for toleration in items(role.pod.tree, "tolerations"):
        own = mapping(toleration)
        if own.get("key") == key or (own.get("operator") == "Exists" and not own.get("key")):
            return True
    return False
