"""KubeRay starts Ray in the first container of the pod, and here this is a sidecar.

The operator puts `ray start`, its variables, probes and /dev/shm into the first container of each template. If that is
a proxy or an agent, it has no `ray` to start, and the pod restarts again and again.

Put the container with the image of Ray first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.ray import cluster_of
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# Names of containers, and repositories, with Ray.
NAME = re.compile(r"ray[-_]?(head|worker|node|container)?\Z")
IMAGE = re.compile(r"(^|/)(rayproject/|ray(-[a-z]+)?[:@])")


@rule(
    code="RY011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/pull/1379: the Ray container must be the first one",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/constant.go: RayContainerIndex",
    ),
    needs=("headGroupSpec",),
)
def ray_container_not_first(resource: Resource) -> Iterator[Problem]:
    """Report sidecars in the place of Ray."""
    cluster = cluster_of(resource)
    for group in cluster.groups if cluster is not None else ():
        first, *others = items(group.pod, "containers") or [None]
        ray = next((one for one in others if _is_ray(one)), None)
        if ray is None or "ray" in f"{text(first, 'name')} {text(first, 'image')}".lower():
            continue
        yield Problem(
            group.container_at,
            f"KubeRay starts Ray in the first container, `{text(first, 'name')}`, and not in `{text(ray, 'name')}`",
            f"put `{text(ray, 'name')}` first",
        )


def _is_ray(container: Any) -> bool:
    return bool(NAME.match(text(mapping(container), "name")) or IMAGE.search(text(mapping(container), "image")))
