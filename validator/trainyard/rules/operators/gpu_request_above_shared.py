"""A container asks for more than one shared GPU, which the device plugin refuses.

With MPS, and with `failRequestsGreaterThanOne: true` of time slicing, the plugin admits requests for one replica only:
the pod fails with "maximum request size for shared resources is 1". Replicas share one GPU's memory and compute in any
case, and two of them may be of the same GPU, so that a larger request does not give more.

The rule applies if each configuration of the device plugin in the files shares GPUs in this way, because a node's label
may choose another one. With `renameByDefault` the shared resource is called `nvidia.com/gpu.shared`.

Ask for 1, or train on nodes whose GPUs are not shared.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.gpu_sharing import KINDS, SharingConfig, configurations
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="GO015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/k8s-device-plugin v0.20.0 internal/rm/rm.go: ValidateRequest",
        "NVIDIA/k8s-device-plugin v0.20.0 api/config/v1/config.go: FailRequestsGreaterThanOne of MPS",
        "NVIDIA/k8s-device-plugin issue 1208",
    ),
    needs=KINDS,
)
def gpu_request_above_shared(project: Project) -> Iterator[Problem]:
    """Requests that the device plugin refuses."""
    found = list(configurations(project))
    limited = [_limited(config) for config in found]
    if not found or not all(config.alone for config in found):
        return
    for name in sorted(set.intersection(*(set(one) for one in limited))):
        for run in project.runs:
            for container in run.containers:
                count = container.limits.get(name)
                if isinstance(count, int | str) and str(count).isdecimal() and int(count) > 1:
                    yield Problem(
                        container.at.child("resources", "limits", name),
                        f"{name}: {count} is refused: a container gets at most one replica of a shared GPU",
                        "request 1, or nodes whose GPUs are not shared",
                        related=((limited[0][name], "the GPUs are shared here"),),
                    )


def _limited(config: SharingConfig) -> dict[str, Place]:
    """Returns the resources of which a request for more than one is refused, as pods see them."""
    resources = {}
    for kind in KINDS:
        section = mapping(config.tree, "sharing", kind)
        refuses = section.get("failRequestsGreaterThanOne", kind == "mps")
        for index, entry in enumerate(items(section, "resources")):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str) and refuses is True:
                name = entry["name"] + ".shared" * (section.get("renameByDefault") is True)
                resources[name] = config.at.child("sharing", kind, "resources", index, "name")
    return resources
