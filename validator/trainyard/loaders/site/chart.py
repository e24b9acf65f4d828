"""The chart of a site: charts/training-platform, with its subcharts."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from gotemplate import merging, rendering
from gotemplate.charts import Chart
from gotemplate.merging import installed
from gotemplate.rendering import RenderedObject
from trainyard.chart_folder import CHARTS
from trainyard.facts.operator_kinds import SCHEMES
from trainyard.facts.served_apis import SERVED_APIS
from trainyard.loaders import json_schema

FOLDER = CHARTS / "training-platform"
# Not a valid Kubernetes name, so that no namespace of a site has it.
NAMESPACE = "<release namespace>"
_RELEASE = {"Name": "site", "Namespace": NAMESPACE}
_DEFINITION = "{{kind: CustomResourceDefinition, metadata: {{name: {}s.kubeflow.org}}}}"


@functools.cache
def platform_chart() -> Chart:
    """Returns the chart, read once. A CustomResourceDefinition, a fifth of a megabyte, is reduced to its name."""
    found = Chart(FOLDER)
    operator = found.parts["training-operator"]
    operator.files = {f"files/crds/{scheme}s.yaml": _DEFINITION.format(scheme) for scheme in SCHEMES}
    found.parts["kubeflow-trainer"].files = {}
    return found


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


def platform_objects(values: Mapping[str, Any]) -> list[RenderedObject]:
    """Returns the objects of the platform's release. Raises `FailedError` and `UnsupportedError`."""
    return rendering.render_chart(platform_chart(), values, _RELEASE, apis=SERVED_APIS)
