"""The API server refuses this object of the GPU operator: a field has a value that its schema does not list.

The CRDs of ClusterPolicy and NVIDIADriver list the values of some fields, such as `mig.strategy` and
`driver.kernelModuleType`. With any other value `kubectl apply` fails; under Helm the whole release fails with it, often
after the parts before it were changed. Words such as `on` and `off` must be quoted: YAML makes booleans of them, and
the field `ccManager.defaultMode` takes text.

Values are compared with upper and lower case. Write one of those that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Resource
from validator.rule import Problem, rule

ENUMS: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {
    "ClusterPolicy": {
        ("ccManager", "defaultMode"): ("on", "off", "devtools"),
        ("daemonsets", "updateStrategy"): ("RollingUpdate", "OnDelete"),
        ("driver", "kernelModuleType"): ("auto", "open", "proprietary"),
        ("mig", "strategy"): ("none", "single", "mixed"),
        ("sandboxWorkloads", "defaultWorkload"): ("container", "vm-passthrough", "vm-vgpu"),
        ("sandboxWorkloads", "mode"): ("kubevirt", "kata"),
    },
    "NVIDIADriver": {
        ("driverType",): ("gpu", "vgpu", "vgpu-host-manager"),
        ("kernelModuleType",): ("auto", "open", "proprietary"),
    },
}


@rule(
    code="GO004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/crds: enum of ClusterPolicy and NVIDIADriver",),
    needs=("ClusterPolicy", "NVIDIADriver"),
)
def gpuop_enum_invalid(resource: Resource) -> Iterator[Problem]:
    """Values outside their list."""
    if not resource.api_version.startswith("nvidia.com/"):
        return
    for path, values in ENUMS.get(resource.kind, {}).items():
        value = mapping(resource.tree, "spec", *path[:-1]).get(path[-1])
        if value is None or value in values:
            continue
        written = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else None
        quote = f'quote it: "{written}"' if written in values else f"write one of {', '.join(values)}"
        yield Problem(
            resource.at.child("spec", *path),
            f"`{'.'.join(path)}` cannot be {str(value).lower() if isinstance(value, bool) else value}",
            quote,
        )
