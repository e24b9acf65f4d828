"""A GPU pod tolerates no GPU taint, so it stays pending on clusters that keep other pods off their GPU nodes.

Clusters often taint GPU nodes with `nvidia.com/gpu:NoSchedule`. Where the admission plugin
`ExtendedResourceToleration` is on, every pod that asks for the resource gets the toleration by itself; with Kueue a
resource flavor can add it. Elsewhere the pod waits with `node(s) had untolerated taint`. The files do not show what
the cluster does.

Runs with a Kueue queue are left alone.

Write a toleration with the resource's name as its key and `operator: Exists`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.known import pods_are_whole
from validator.facts.devices import is_accelerator
from validator.fields import items, mapping
from validator.model import Role
from validator.rule import Append, Context, Problem, rule

QUEUE = "kueue.x-k8s.io/queue-name"


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
    """A GPU pod that tolerates no taint."""
    run = context.run
    if run is None or not pods_are_whole(run) or QUEUE in run.labels or QUEUE in role.pod.labels:
        return
    key = _taint(role)
    if key is None or _tolerates(role, key):
        return
    at = role.pod.at.child("tolerations")
    toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
    yield Problem(
        at.key(),
        f"pods of {role.name} ask for GPUs and do not tolerate the taint {key}",
        f"write a toleration with `key: {key}` and `operator: Exists`",
        (Append(at, toleration),),
    )


def _taint(role: Role) -> str | None:
    for container in role.pod.containers:
        for resource in {**container.requests, **container.limits} if container.gpus else ():
            if is_accelerator(resource):
                # MIG devices are on nodes with the taint of their vendor's GPUs.
                return "nvidia.com/gpu" if resource.startswith("nvidia.com/") else str(resource)
    return None


def _tolerates(role: Role, key: str) -> bool:
    for toleration in items(role.pod.tree, "tolerations"):
        own = mapping(toleration)
        if own.get("key") == key or (own.get("operator") == "Exists" and not own.get("key")):
            return True
    return False
