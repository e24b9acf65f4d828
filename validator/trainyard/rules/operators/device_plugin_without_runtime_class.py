"""The device plugin on K3s or RKE2 has no runtime class, so it runs without the driver and finds no GPU.

K3s and RKE2 find NVIDIA's runtime and add it to containerd, but `runc` stays the default. Pods get the libraries of
the driver with `runtimeClassName: nvidia` alone. The device plugin without it logs `could not load NVML library`, and
the node offers no `nvidia.com/gpu`.

The rule looks at HelmCharts, the kind of these two distributions, with version 0.14 or later. Before, instructions
made the runtime the default by a template. It leaves out values with the path of a driver or with CDI. A server with
`default-runtime: nvidia` needs no class.

On any cluster, the exporter of DCGM needs the class that the device plugin of the same files names: without it, the
exporter ends with `error initializing DCGM library`.

Write `runtimeClassName: nvidia` in the values.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import has_kind
from trainyard.analysis.objects.releases import KINDS, DeclaredRelease, releases, releases_of
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource
from trainyard.startup import pattern

_CHART, _EXPORTER, _ROOT = "nvidia-device-plugin", "dcgm-exporter", "nvidiaDriverRoot"
_CLASS = "runtimeClassName"
_VERSION, _RECENT = pattern(r"v?([0-9]{1,3})\.([0-9]{1,3})\."), (0, 14)
# Values with one of these words name a runtime, find the driver in another way, or are a template.
_SETTLED = ("runtimeClassName", "cdi", "tegra", "{{")


@rule(
    code="GO069",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "https://docs.k3s.io/advanced#nvidia-container-runtime: runtimeClassName",
        "NVIDIA/k8s-device-plugin deployments/helm/nvidia-device-plugin/values.yaml: runtimeClassName is null",
        "NVIDIA/dcgm-exporter 4.8.2 deployment/values.yaml: runtimeClassName is empty",
        "github.com/NVIDIA/k8s-device-plugin issue 477, github.com/ionfury/homelab pull 483",
    ),
    needs=(_CHART, _EXPORTER),
)
def device_plugin_without_runtime_class(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report a device plugin and an exporter with the default runtime."""
    yield from _exporter(resource, context)
    spec = mapping(resource.tree, "spec")
    is_chart = resource.kind == "HelmChart" and resource.api_version.startswith("helm.cattle.io/")
    values = f"{text(spec, 'valuesContent')} {mapping(spec, 'set')}"
    if not is_chart or items(spec, "valuesSecrets") or any(one in values for one in _SETTLED):
        return
    for release in releases_of(resource):
        named = _VERSION.match(release.version)
        is_recent = named is not None and (int(named[1]), int(named[2])) >= _RECENT
        if (
            is_recent
            and release.chart == _CHART
            and not release.values.get(_ROOT)
            and not _has_config(resource, context)
        ):
            yield Problem(
                release.at,
                "K3s and RKE2 run the device plugin with runc, without the driver: it finds no GPU",
                "write `runtimeClassName: nvidia` in the values",
            )


def _exporter(resource: Resource, context: Context) -> Iterator[Problem]:
    """Yields an exporter of DCGM without the runtime class that the device plugin has."""
    if resource.kind not in KINDS:
        return
    for release in releases_of(resource):
        named = None if release.is_open or release.chart != _EXPORTER else release.values.get(_CLASS, "")
        if named != "" or not release.values or "{{" in str(release.values):
            continue
        wanted = {str(one.values[_CLASS]) for one in releases(context.project) if _names_class(one)}
        if len(wanted) == 1 and has_kind(context.project, "RuntimeClass"):
            name = wanted.pop()
            yield Problem(
                release.at,
                f"the device plugin runs with `runtimeClassName: {name}`, and the exporter without: it finds no GPU",
                f"write `runtimeClassName: {name}` in the values",
            )


def _names_class(release: DeclaredRelease) -> bool:
    return release.chart == _CHART and bool(release.values.get(_CLASS))


def _has_config(resource: Resource, context: Context) -> bool:
    """True if a HelmChartConfig adds values to the chart."""
    return any(one.name == resource.name for one in context.project.of_kind("HelmChartConfig"))
