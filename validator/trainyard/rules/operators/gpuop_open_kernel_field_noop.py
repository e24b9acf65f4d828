"""The GPU operator ignores `useOpenKernelModules`, so the driver may use other kernel modules.

Since v25.3 the field is deprecated and without effect, in a ClusterPolicy under `driver` and in an NVIDIADriver alike.
The operator reads `kernelModuleType`: `auto` (its default, which chooses by GPU and driver branch), `open` or
`proprietary`. A cluster that uses GPUDirect RDMA over DMA-BUF, or GPUDirect Storage, needs the open modules and may
silently get others after an upgrade of the operator.

Write `kernelModuleType: open` if the old field was `true`. If it was `false`, remove it: `auto` selects the proprietary
modules if the open ones do not support the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Edit, Remove, Rename, SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

DRIVERS = {"ClusterPolicy": ("spec", "driver"), "NVIDIADriver": ("spec",)}


@rule(
    code="GO001",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v25.3.0 api/nvidia/v1/clusterpolicy_types.go: UseOpenKernelModules, KernelModuleType",
        "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml: driver.kernelModuleType",
    ),
    fix="safe",
    needs=("ClusterPolicy", "NVIDIADriver"),
)
def gpuop_open_kernel_field_noop(resource: Resource) -> Iterator[Problem]:
    """A field without effect."""
    path = DRIVERS.get(resource.kind)
    driver = mapping(resource.tree, *path) if path and resource.api_version.startswith("nvidia.com/") else {}
    if path is None or "useOpenKernelModules" not in driver:
        return
    place = resource.at.child(*path, "useOpenKernelModules")
    wanted = driver["useOpenKernelModules"] is True and "kernelModuleType" not in driver
    edits: tuple[Edit, ...] = (
        (Rename(place, "kernelModuleType"), SetValue(place, "open")) if wanted else (Remove(place),)
    )
    yield Problem(
        place.key(),
        "the GPU operator ignores `useOpenKernelModules` since v25.3",
        "write `kernelModuleType: open`" if wanted else "remove it; the operator reads `kernelModuleType`",
        edits,
    )
