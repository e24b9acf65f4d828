"""A chart copies a value into the data of a ConfigMap, where only text is allowed, and the value is a mapping.

The charts of the GPU operator and of the device plugin create a ConfigMap from files in the values: `data` of
`migManager.config` and `devicePlugin.config`, and `config.map`. Each entry is the text of a file. Written as YAML
without `|`, it becomes a mapping. The API server refuses the ConfigMap of the GPU operator, and Helm cannot render that
of the device plugin, so the release fails.

The rule leaves out values that the charts do not use: those without `create: true` of the GPU operator, and
`config.map` beside `config.name`.

Write `|` behind the name of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_PATHS: dict[str, tuple[tuple[str, ...], ...]] = {
    "gpu-operator": (("migManager", "config", "data"), ("devicePlugin", "config", "data")),
    "nvidia-device-plugin": (("config", "map"),),
}


@rule(
    code="GO061",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v25.3.0 deployments/gpu-operator/templates/mig_config.yaml, plugin_config.yaml",
        "NVIDIA/k8s-device-plugin v0.17.1 deployments/helm/nvidia-device-plugin/templates/configmap.yml",
        "kubernetes/api v0.34.4 core/v1/types.go: ConfigMap.Data; github.com/NVIDIA/gpu-operator pull 1273",
    ),
    needs=tuple(_PATHS),
)
def chart_data_not_text(project: Project) -> Iterator[Problem]:
    """Report files in values that are no text."""
    for release in releases(project):
        for path in _PATHS.get(release.chart, ()):
            if not _is_used(mapping(release.values, *path[:-1]), path[-1]):
                continue
            for name, content in mapping(release.values, *path).items():
                if isinstance(content, dict | list):
                    at = release.place(*path, name)
                    yield Problem(
                        at.key() if release.values_at is not None else at,
                        f"`{'.'.join((*path, name))}` is not text, and the chart writes it into a ConfigMap: the "
                        "release fails",
                        f"write `{name}: |`, so that the file is text",
                    )


def _is_used(config: dict[str, Any], field: str) -> bool:
    return not config.get("name") if field == "map" else config.get("create") is True
