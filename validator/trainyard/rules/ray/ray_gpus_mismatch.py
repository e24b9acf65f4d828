"""`num-gpus` of Ray is not the number of GPUs that the container has.

KubeRay passes the GPUs of the first container's limits to `ray start` as `--num-gpus`. A `num-gpus` in
`rayStartParams` replaces this number. If it is larger, Ray places tasks on GPUs that do not exist, and they fail with
`CUDA error: invalid device ordinal` or `no CUDA-capable device`. If it is smaller, the rest of the GPUs is paid for
and idle. `num-gpus: "0"` keeps tasks off a pod and is not reported.

Remove `num-gpus`: the limit of the container is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.document import Remove
from trainyard.document.lookup import decimal, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import gpus
from trainyard.model.run import Resource


@rule(
    code="RY013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: addWellKnownAcceleratorResources",
    ),
    fix="unsafe",
    needs=("num-gpus",),
)
def ray_gpus_mismatch(resource: Resource) -> Iterator[Problem]:
    """Report a number of GPUs for Ray that the container does not have."""
    for group in groups_of(resource):
        told = decimal(str(mapping(group.tree, "rayStartParams").get("num-gpus", "")))
        if not told or not group.containers:
            continue
        resources = mapping(group.containers[0], "resources")
        limits, requests = mapping(resources, "limits"), mapping(resources, "requests")
        quantities = [str(value) for known in (limits, requests) for name, value in known.items() if "/" in str(name)]
        if any(decimal(quantity) is None for quantity in quantities) or any("mig-" in str(name) for name in limits):
            continue
        owned = gpus(limits, requests)
        # GPUs may also come from a resource claim or the host.
        if told == owned or not owned:
            continue
        effect = "tasks on the others fail" if told > owned else "the others are idle"
        at = group.at.child("rayStartParams", "num-gpus")
        yield Problem(
            at,
            f"num-gpus of {group.title} is {told}, but its container has {owned} GPUs: {effect}",
            "remove num-gpus: KubeRay passes the limit of the container",
            (Remove(at),),
            ((group.containers_at.child(0, "resources", "limits"), "the limits of the container"),),
        )
