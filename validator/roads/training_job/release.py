"""A release of the chart: the values that its templates see, the objects that they make, and which values are read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from validator.roads.templates import rendering
from validator.roads.templates.merging import with_defaults
from validator.roads.templates.rendering import Made
from validator.roads.training_job.chart import FOLDER, chart
from validator.source import Path


class Release(NamedTuple):
    """What the templates know of the release."""

    name: str
    namespace: str


@functools.cache
def templates() -> rendering.Chart:
    """The templates of the chart, read once."""
    known = chart()
    return rendering.load(FOLDER, {"name": known.name, "version": known.version, "appVersion": known.app_version})


def merged(own: Mapping[str, Any]) -> dict[str, Any]:
    """The user's values over the chart's defaults."""
    return with_defaults(dict(own), chart().defaults.tree)


def objects(values: Mapping[str, Any], release: Release, read: set[Path] | None = None) -> list[Made]:
    """The objects of the release, from merged values, and the paths of those that the templates read.

    Raises `FailedError` where the templates refuse the values.
    """
    return rendering.render(templates(), values, {"Name": release.name, "Namespace": release.namespace}, read)
