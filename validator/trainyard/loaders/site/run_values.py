"""The values of charts/training-job that a site sets for its runs; its release keeps them in a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gotemplate.origin import Origin
from gotemplate.rendering import RenderedObject
from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.source import Path, Position
from trainyard.loaders.site.chart import NAMESPACE

_KEY = "run.yaml"


class RunValues(Document):
    """Values of charts/training-job that a site sets for its runs. Their places are those of the site's own values."""

    __slots__ = ("_origins", "_site")

    def __init__(self, tree: dict[str, Any], site: Document, origins: Mapping[Path, Origin]) -> None:
        super().__init__(site.source, site.index, tree, ())
        self._site, self._origins = site, origins

    def locate(self, place: Place) -> Position:
        """Returns the position in the site's values."""
        for length in range(len(place.path), 0, -1):
            origin = self._origins.get(place.path[:length])
            if origin is not None:
                rest = place.path[length:] if origin.exact else ()
                return self._site.locate(Place(self._site, origin.path + rest))
        return self._site.locate(Place(self._site, ("fabric",)))


def run_values(site: Document, config_maps: Iterable[RenderedObject]) -> RunValues:
    """Returns the values in the site's ConfigMap. A network of the release's namespace has no namespace here."""
    kept = next(made for made in config_maps if _KEY in mapping(made.tree, "data"))
    tree, origins = kept.embedded(("data", _KEY))
    for network in items(tree, "fabric", "networks"):
        if text(network, "namespace") == NAMESPACE:
            del network["namespace"]
    return RunValues(tree, site, origins)
