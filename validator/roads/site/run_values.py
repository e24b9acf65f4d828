"""The values of charts/training-job that a site has for its runs; its release keeps them in a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from validator.fields import items, mapping, text, whole
from validator.site import QUEUE, SiteNetwork
from validator.source import Document, Path, Place, Position


class RunValues(Document):
    """Values of charts/training-job that a site has for its runs. Their places are those of the site's own values."""

    __slots__ = ("_origins", "_site")

    def __init__(self, tree: dict[str, Any], site: Document, origins: Mapping[Path, Path]) -> None:
        super().__init__(site.source, site.index, tree, ())
        self._site, self._origins = site, origins

    def locate(self, place: Place) -> Position:
        """Where the site says it."""
        for length in range(len(place.path), 0, -1):
            origin = self._origins.get(place.path[:length])
            if origin is not None:
                return self._site.locate(Place(self._site, origin + place.path[length:]))
        return self._site.locate(Place(self._site, ("fabric",)))


def run_values(document: Document, profile: str, made: tuple[SiteNetwork, ...]) -> RunValues:
    """The values below those of every run; `made` are the networks that the site makes."""
    tree = document.tree
    origins: dict[Path, Path] = {("fabric", "profile"): ("fabric", "profile")}
    fabric: dict[str, Any] = {"profile": profile}
    networks = list(_networks(document, profile, made))
    if networks:
        fabric["networks"] = [entry for entry, _ in networks]
        origins |= {("fabric", "networks", number): at.path for number, (_, at) in enumerate(networks)}
    rails = whole(tree, "fabric", "rails")
    resources = _resources(tree, made, [entry for entry, _ in networks], rails or 1)
    for field, value in (("rails", rails), ("resources", resources), ("env", mapping(tree, "fabric", "env"))):
        if value:
            fabric[field] = value
            origins[("fabric", field)] = ("fabric", field)
    values: dict[str, Any] = {"fabric": fabric}
    if mapping(tree, "queues").get("enabled") is True:
        values["scheduling"] = {"queue": {"name": text(tree, "queues", "name") or QUEUE}}
        origins[("scheduling",)] = ("queues",)
        origins[("scheduling", "queue", "name")] = ("queues", "name")
    return RunValues(values, document, origins)


def _networks(
    document: Document, profile: str, made: tuple[SiteNetwork, ...]
) -> Iterator[tuple[dict[str, Any], Place]]:
    if mapping(document.tree, "fabric").get("networks") is not None:
        for index, entry in enumerate(items(document.tree, "fabric", "networks")):
            yield entry, Place(document, ("fabric", "networks", index))
    elif not profile.startswith("gke-"):
        for network in made:
            if network.at.path[0] == "networks":
                entry = {"name": network.name, "namespace": network.namespace}
                yield {key: value for key, value in entry.items() if value}, network.at


def _resources(tree: Any, made: Iterable[SiteNetwork], networks: Iterable[Any], rails: int) -> dict[str, Any]:
    """A device for each network that takes one, and what the site says besides."""
    resources: dict[str, Any] = {}
    for entry in networks:
        for network in made:
            fits = network.name == text(entry, "name") and network.namespace in ("", text(entry, "namespace"))
            if fits and network.resource:
                resources[network.resource] = resources.get(network.resource, 0) + rails
    return {**resources, **mapping(tree, "fabric", "resources")}
