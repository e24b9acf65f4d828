"""GPUs are shared by MPS without GPU feature discovery, so the control daemon of MPS runs on no node.

The chart of the device plugin starts the control daemon on nodes with the label `nvidia.com/mps.capable`. GPU feature
discovery sets it, and is off by default (`gfd.enabled`). Without the daemon, the device plugin fails with "error
checking MPS daemon health", and offers no GPU.

The rule is silent if the files install GPU feature discovery in another way, or name the label.

Set `gfd.enabled` to true.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.analysis.resources.gpu_sharing import SharingConfig, configurations
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_CHART, _LABEL, _DISCOVERY = "nvidia-device-plugin", "nvidia.com/mps.capable", "gpu-feature-discovery"
_OTHERS = ("gpu-operator", _DISCOVERY)


@rule(
    code="GO085",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/k8s-device-plugin templates/daemonset-mps-control-daemon.yml line 212 of the chart: nodeSelector",
        "NVIDIA/k8s-device-plugin values.yaml of the chart: gfd.enabled; internal/lm/nvml.go: nvidia.com/mps.capable",
        "github.com/NVIDIA/k8s-device-plugin issue 634",
    ),
    needs=("mps",),
)
def mps_without_feature_discovery(project: Project) -> Iterator[Problem]:
    """Report charts that share by MPS without the label."""
    plugins = [one for one in releases(project) if one.chart == _CHART and _is_without(one)]
    shared = [one for one in configurations(project) if mapping(one.tree, "sharing", "mps")]
    if not plugins or not shared or any(one.chart in _OTHERS for one in releases(project)):
        return
    if any(name in one.text for one in project.sources for name in (_LABEL, _DISCOVERY)):
        return
    for plugin in plugins:
        config = next((one for one in shared if _is_of(one, plugin)), None)
        if config is not None:
            yield Problem(
                plugin.place("gfd", "enabled") if "gfd" in plugin.values else plugin.place("config").key(),
                f"GPUs are shared by MPS, and without GPU feature discovery no node has the label {_LABEL}: "
                "the control daemon of MPS runs nowhere",
                "set `gfd.enabled` to true",
                related=((config.at.child("sharing", "mps"), "the configuration"),),
            )


def _is_without(plugin: DeclaredRelease) -> bool:
    return not plugin.is_open and plugin.flag("gfd", "enabled") is not True


def _is_of(config: SharingConfig, plugin: DeclaredRelease) -> bool:
    return config.holder == text(plugin.values, "config", "name") or not config.holder
