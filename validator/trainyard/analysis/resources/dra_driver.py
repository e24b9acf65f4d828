"""The values of NVIDIA's DRA driver in the files."""

from __future__ import annotations

from typing import Any, NamedTuple

from trainyard.analysis.objects.releases import DeclaredRelease, releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project

# The names of the chart: NVIDIA's, and that of kubernetes-sigs.
CHARTS = ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu")
# A value that this chart alone has.
OWN = "gpuResourcesEnabledOverride"


class Driver(NamedTuple):
    """The values of one release of the driver, with a place in them.

    `release` is the object that declares it; None for a file of values.
    """

    values: dict[str, Any]
    at: Place
    release: DeclaredRelease | None = None


def drivers(project: Project) -> tuple[Driver, ...]:
    """Returns the releases of the driver, and the files of its values."""
    return _drivers.of(project)


def _find(project: Project) -> tuple[Driver, ...]:
    found = [Driver(one.values, one.at, one) for one in releases(project) if one.chart in CHARTS]
    for document in project.documents:
        tree = mapping(document.tree)
        if OWN in tree and "kind" not in tree:
            found.append(Driver(tree, Place(document).child(OWN)))
    return tuple(found)


_drivers: LastIndex[Project, tuple[Driver, ...]] = LastIndex(_find)
