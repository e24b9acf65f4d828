"""The chart of a site: charts/training-platform, with its subcharts."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gotemplate import merging, rendering
from gotemplate.charts import Chart
from gotemplate.merging import installed
from gotemplate.rendering import RenderedObject
from trainyard.chart_folder import CHARTS
from trainyard.facts.jobs.operator_kinds import SCHEMES
from trainyard.facts.kubernetes.served_apis import SERVED_APIS
from trainyard.loaders import json_schema

FOLDER = CHARTS / "training-platform"
# Not a valid Kubernetes name, so that no namespace of a site has it.
NAMESPACE = "<release namespace>"
_RELEASE = {"Name": "site", "Namespace": NAMESPACE}
_DEFINITION = "{{kind: CustomResourceDefinition, metadata: {{name: {0}s.{1}}}, spec: {{group: {1}}}}}"
_OPERATOR = "kubeflow.org"
# Of charts/kubeflow-trainer: the group of each kind.
_OF_TRAINER = {
    "jobset": "jobset.x-k8s.io",
    "clustertrainingruntime": "trainer.kubeflow.org",
    "trainingruntime": "trainer.kubeflow.org",
    "trainjob": "trainer.kubeflow.org",
}


@functools.cache
def platform_chart() -> Chart:
    """Returns the chart, read once. A CustomResourceDefinition, a fifth of a megabyte, is reduced to its name."""
    found = Chart(FOLDER)
    found.parts["training-operator"].files = _definitions(dict.fromkeys(SCHEMES, _OPERATOR))
    found.parts["kubeflow-trainer"].files = _definitions(_OF_TRAINER)
    return found


def _definitions(groups: Mapping[str, str]) -> dict[str, str]:
    return {f"files/crds/{group}_{kind}s.yaml": _DEFINITION.format(kind, group) for kind, group in groups.items()}


def platform_values(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a site over all defaults. Raises `FailedError`."""
    return merging.coalesce(platform_chart(), tree)


def platform_faults(values: Mapping[str, Any]) -> Iterator[json_schema.Fault]:
    """Yields the faults that the schemas of the chart and of its installed subcharts find in coalesced values."""
    return _faults(platform_chart(), values, ())


def _faults(of: Chart, values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[json_schema.Fault]:
    file = of.folder / "values.schema.json"
    if file.is_file():
        yield from json_schema.faults(json_schema.load_schema(file), values, path)
    for name, part in installed(of, values):
        yield from _faults(part, values[name], (*path, name))


def platform_objects(
    values: Mapping[str, Any],
    release: Mapping[str, str] = _RELEASE,
    apis: Collection[str] = SERVED_APIS,
    kube_version: str = rendering.KUBE_VERSION,
) -> list[RenderedObject]:
    """Returns the objects of the platform's release. Raises `FailedError` and `UnsupportedError`."""
    return rendering.render_chart(platform_chart(), values, release, apis=apis, kube_version=kube_version)
