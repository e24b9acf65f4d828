"""A claim is of a class of GPUs that the values of NVIDIA's DRA driver turn off, so it is never allocated.

The chart creates the classes `gpu.nvidia.com`, `mig.nvidia.com` and `vfio.gpu.nvidia.com` with `resources.gpus.enabled`
alone. Without it, the driver serves compute domains, and the device plugin offers the GPUs. Pods with such a claim
stay Pending: `device class gpu.nvidia.com does not exist`.

The rule applies if the values of one release of the chart are in the files, and no file defines the class.

Turn the GPUs of the driver on, or request `nvidia.com/gpu` of the device plugin instead of the claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import is_known
from trainyard.analysis.resources.dra_driver import drivers
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

_CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
_PATHS = {"ResourceClaim": ("spec", "devices"), "ResourceClaimTemplate": ("spec", "spec", "devices")}


@rule(
    code="GO067",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/dra-driver-nvidia-gpu deployments/helm: deviceclass-gpu.yaml, deviceclass-mig.yaml",
        "github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 338",
    ),
    needs=_CLASSES,
)
def dra_class_turned_off(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report claims of classes that the driver does not create."""
    path = _PATHS.get(resource.kind)
    asked = list(_classes(resource, path)) if path else []
    found = drivers(context.project) if asked else ()
    if len(found) != 1 or mapping(found[0].values, "resources", "gpus").get("enabled") is not False:
        return
    for name, at in asked:
        if not is_known(context.project, "DeviceClass", name):
            yield Problem(
                at,
                f"the device class `{name}` does not exist: `resources.gpus.enabled` of the DRA driver is false",
                "set it to true with `gpuResourcesEnabledOverride`, or request `nvidia.com/gpu` instead of the claim",
                related=((found[0].at, "the driver"),),
            )


def _classes(resource: Resource, path: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
    """Yields the classes of NVIDIA's GPUs that a claim requests."""
    for index, request in enumerate(items(mapping(resource.tree, *path), "requests")):
        at = resource.at.child(*path, "requests", index)
        several = ((one, at.child("firstAvailable", number)) for number, one in enumerate(_alternatives(request)))
        for one, place in ((request, at), (mapping(request, "exactly"), at.child("exactly")), *several):
            name = text(one, "deviceClassName")
            if name in _CLASSES:
                yield name, place.child("deviceClassName")


def _alternatives(request: Any) -> list[Any]:
    """Returns the alternatives of a request, if all of them are of NVIDIA's GPUs."""
    found = items(request, "firstAvailable")
    return found if all(text(one, "deviceClassName") in _CLASSES for one in found) else []
