"""The values of NVIDIA's DRA driver in the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.model.run import Project

CHART = "nvidia-dra-driver-gpu"
# A value that this chart alone has.
OWN = "gpuResourcesEnabledOverride"


class Driver(NamedTuple):
    """The values of one release of the driver, with a place in them."""

    values: dict[str, Any]
    at: Place


def drivers(project: Project) -> Iterator[Driver]:
    """Yields the releases of the driver, and the files of its values."""
    for release in releases(project):
        if release.chart in (CHART, "dra-driver-nvidia-gpu"):
            yield Driver(release.values, release.at)
    for document in project.documents:
        tree = mapping(document.tree)
        if OWN in tree and "kind" not in tree:
            yield Driver(tree, Place(document).child(OWN))
