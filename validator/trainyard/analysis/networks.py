"""Networks by name, as pods request them: those that the files define, and those of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainyard.document.lookup import text
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project

# Objects for which an operator creates a NetworkAttachmentDefinition of the same name in `spec.networkNamespace`.
MAKERS = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork")


class Name(NamedTuple):
    """The name of a network; the namespace is empty if it is not known."""

    namespace: str
    name: str

    def fits(self, namespace: str, name: str) -> bool:
        """True if a pod may refer to this network."""
        return self.name == name and (not namespace or self.namespace in ("", namespace))


def defined_networks(project: Project) -> Iterator[Name]:
    """Yields the networks that the files define."""
    for network in project.networks:
        yield Name(network.namespace, network.name)
    for resource in project.of_kind(*MAKERS):
        yield Name(text(resource.tree, "spec", "networkNamespace"), resource.name)


def parse_names(names: Iterable[str]) -> Iterator[Name]:
    """Yields the networks in a list of `name` or `namespace/name`."""
    for name in names:
        namespace, _, bare = name.rpartition("/")
        yield Name(namespace, bare)


def advice(name: str, known: Iterable[Name], otherwise: str) -> str:
    """Returns the help for a network that does not exist."""
    others = sorted(set(known))
    elsewhere = [one.namespace for one in others if one.name == name and one.namespace]
    if elsewhere:
        return f"it is defined in namespace {elsewhere[0]}: write `{elsewhere[0]}/{name}`"
    near = closest_match(name, [one.name for one in others], 0.6)
    return f"did you mean `{near}`?" if near is not None else otherwise
