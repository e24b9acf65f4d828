"""Claims of devices by Dynamic Resource Allocation, in the objects of the files."""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import items, text
from trainyard.model.run import Project

_CLASSES = (
    *("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com", "gpu.amd.com", "gpu.intel.com", "vfio.gpu.intel.com"),
    *("gaudi.intel.com", "tpu.google.com", "neuron.amazonaws.com"),
)
_OBJECTS = {
    "resourceClaimName": ("ResourceClaim", ()),
    "resourceClaimTemplateName": ("ResourceClaimTemplate", ("spec",)),
}


def is_gpu_claim(claim: Any, project: Project, space: str) -> bool:
    """True if a claim asks for a GPU in an object of the files."""
    for field, (kind, path) in _OBJECTS.items():
        found = project.named(kind, text(claim, field), space) if text(claim, field) else None
        requests = items(found.tree, "spec", *path, "devices", "requests") if found is not None else []
        for one in requests:
            if (text(one, "exactly", "deviceClassName") or text(one, "deviceClassName")) in _CLASSES:
                return True
    return False
