"""A release of the chart: the values that its templates see, the objects, and the values that are read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from gotemplate import rendering
from gotemplate.charts import Chart
from gotemplate.merging import coalesce
from gotemplate.rendering import RenderedObject
from trainyard.document.source import Path
from trainyard.facts.kubernetes.served_apis import SERVED_APIS
from trainyard.loaders.training_job.chart import FOLDER, chart


class Release(NamedTuple):
    """The data of the release in templates."""

    name: str
    namespace: str


@functools.cache
def templates() -> Chart:
    """Returns the templates of the chart, read once."""
    return Chart(FOLDER, chart().defaults.tree)


def merged_values(own: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the user's values over the chart's defaults."""
    return coalesce(templates(), own)


def release_objects(
    values: Mapping[str, Any], release: Release, read: set[Path] | None = None, *, traced: bool = True
) -> list[RenderedObject]:
    """Returns the objects of the release, from merged values, and the paths of the values that the templates read.

    Unless `traced`, the nodes of the objects have no origins. Raises `FailedError` if the templates refuse the values.
    """
    about = {"Name": release.name, "Namespace": release.namespace}
    return rendering.render_chart(templates(), values, about, apis=SERVED_APIS, read=read, traced=traced)
