"""A GPU operator object has a value that its schema does not list, so the API server rejects it.

The CRDs of ClusterPolicy and NVIDIADriver list the values of some fields, such as `mig.strategy` and
`driver.kernelModuleType`. With any other value `kubectl apply` fails. Under Helm the whole release fails with it, often
after other parts were changed already. Words such as `on` and `off` must be quoted: YAML reads them as booleans, but
the field `ccManager.defaultMode` takes text.

The chart `gpu-operator` writes its values into the ClusterPolicy, so the rule also reads them in HelmReleases and
Applications.

Values are case-sensitive. Write one of the values that the message names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases_of
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

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
    needs=("ClusterPolicy", "NVIDIADriver", "gpu-operator"),
)
def gpuop_enum_invalid(resource: Resource) -> Iterator[Problem]:
    """Values outside the enum of their field."""
    if resource.kind in ENUMS and resource.api_version.startswith("nvidia.com/"):
        yield from _refused(resource.kind, mapping(resource.tree, "spec"), resource.at.child("spec").child)
    for release in releases_of(resource):
        if release.chart == "gpu-operator":
            yield from _refused("ClusterPolicy", release.values, release.place)


def _refused(kind: str, tree: dict[str, Any], place: Callable[..., Place]) -> Iterator[Problem]:
    for path, values in ENUMS[kind].items():
        value = mapping(tree, *path[:-1]).get(path[-1])
        if value is None or value in values or has_parameter(str(value)) or "$" in str(value):
            continue
        written = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else None
        quote = f'quote it: "{written}"' if written in values else f"write one of {', '.join(values)}"
        yield Problem(
            place(*path),
            f"`{str(value).lower() if isinstance(value, bool) else value}` is not a valid value of `{'.'.join(path)}`",
            quote,
        )
