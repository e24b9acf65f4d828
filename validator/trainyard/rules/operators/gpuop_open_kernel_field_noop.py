"""The GPU operator ignores `useOpenKernelModules`, so the driver may use other kernel modules.

Since v25.3 the field is deprecated and without effect, in a ClusterPolicy under `driver` and in an NVIDIADriver alike.
The operator reads `kernelModuleType`: `auto` (its default, which chooses by GPU and driver branch), `open` or
`proprietary`. A cluster that uses GPUDirect RDMA over DMA-BUF, or GPUDirect Storage, needs the open modules and may
silently get others after an upgrade of the operator.

The rule says nothing if a label of the object, or the operator's image in the files, has an older version.

Write `kernelModuleType: open` if the old field was `true`. If it was `false`, remove it: `auto` selects the proprietary
modules if the open ones do not support the GPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.controllers import version_of
from trainyard.document.document import Edit, Remove, Rename, SetValue
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Project, Resource

SINCE = (25, 3)
# Labels of the operator's chart: its version, and the name of the chart with it.
STATED = re.compile(r"(?:gpu-operator-)?v?(\d+)\.(\d+)(?:\.\d+)?")
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
def gpuop_open_kernel_field_noop(resource: Resource, context: Context) -> Iterator[Problem]:
    """A field without effect."""
    path = DRIVERS.get(resource.kind)
    driver = mapping(resource.tree, *path) if path and resource.api_version.startswith("nvidia.com/") else {}
    if path is None or "useOpenKernelModules" not in driver or _is_older(resource, context.project):
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


def _is_older(resource: Resource, project: Project) -> bool:
    """True if the files state a release of the operator that still reads the field."""
    for label in ("app.kubernetes.io/version", "helm.sh/chart"):
        found = STATED.fullmatch(text(resource.tree, "metadata", "labels", label))
        if found is not None:
            return before((int(found[1]), int(found[2])), SINCE)
    return before(version_of(project, "gpu-operator"), SINCE)
