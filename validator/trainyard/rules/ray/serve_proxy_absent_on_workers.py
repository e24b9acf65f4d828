"""Serve runs no proxy on the workers, and KubeRay asks each worker for one, so they are never ready.

KubeRay gives the workers of a RayService a readiness probe that fetches `/-/healthz` from a proxy on the same pod. With
`proxy_location: HeadOnly` or `Disabled` in `serveConfigV2`, Ray Serve starts none there. The pods run, and stay at
`0/1` with "Readiness probe failed"; a gang, a rollout or a monitor that waits for them waits forever.

Write `proxy_location: EveryNode`, which is the default of Ray Serve, or give the workers a readiness probe of their
own, which KubeRay keeps.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.lookup import text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.model.run import Resource

_CONFIG = "serveConfigV2"
_WITHOUT = ("HeadOnly", "Disabled")


@rule(
    code="RY046",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/ray-project/kuberay issue 4994 and pull 4997",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: initLivenessAndReadinessProbe",
    ),
    needs=("proxy_location",),
)
def serve_proxy_absent_on_workers(resource: Resource) -> Iterator[Problem]:
    """Report a RayService whose workers have no proxy, and a probe that asks for one."""
    raw = text(resource.tree, "spec", _CONFIG)
    if resource.kind != "RayService" or group_of(resource.api_version) != RAY or not raw:
        return
    inner = embedded(resource.at.child("spec", _CONFIG), raw)
    location = "" if isinstance(inner, BrokenText) else text(inner.tree, "proxy_location")
    if location not in _WITHOUT:
        return
    workers = [group for group in groups_of(resource) if not group.is_head and group.tree.get("maxReplicas") != 0]
    if any(group.container and "readinessProbe" not in group.container for group in workers):
        yield Problem(
            resource.at.child("spec", _CONFIG).key(),
            f"`proxy_location: {location}`: the workers run no proxy, and KubeRay's readiness probe asks each for one",
            "write `proxy_location: EveryNode`, or give the workers a readinessProbe",
        )
