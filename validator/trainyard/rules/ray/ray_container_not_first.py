"""The first container of a pod of Ray is another program, so Ray starts there.

KubeRay runs `ray start` in the first container of each template, whatever its name is, and mounts `/dev/shm` and sets
Ray's variables only there. If a sidecar comes first, Ray is started in its image, which has no `ray`, or without the
GPUs that the second container requests. The pod restarts, or the cluster has no GPU.

Move the container with Ray to the first place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import gpus
from trainyard.model.run import Resource


@rule(
    code="RY017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/constant.go: RayContainerIndex = 0",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: BuildPod",
    ),
    needs=("rayStartParams",),
)
def ray_container_not_first(resource: Resource) -> Iterator[Problem]:
    """Report a sidecar in the place of Ray's container."""
    for group in groups_of(resource):
        first = next(iter(group.containers), {})
        if _is_ray(first) or _gpus(first):
            continue
        for number, container in enumerate(group.containers[1:], 1):
            if _is_ray(container):
                yield Problem(
                    group.containers_at.child(0, "name"),
                    f"KubeRay starts Ray in the first container, {text(first, 'name')}, not in "
                    f"{text(container, 'name')}",
                    f"make {text(container, 'name')} the first container",
                    related=((group.containers_at.child(number, "name"), "the container with Ray"),),
                )
                break


def _is_ray(container: dict[str, Any]) -> bool:
    return text(container, "name").startswith("ray") or "/ray" in f"/{text(container, 'image')}"


def _gpus(container: dict[str, Any]) -> int:
    return gpus(mapping(container, "resources", "limits"), mapping(container, "resources", "requests"))
