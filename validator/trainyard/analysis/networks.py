"""Networks by name, as pods ask for them: those that the files define, and those of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from validator.fields import text
from validator.model import Project
from validator.spelling import closest

# Objects of which an operator makes a NetworkAttachmentDefinition of the same name in `spec.networkNamespace`.
MAKERS = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork")


class Name(NamedTuple):
    """A network; the namespace is empty where it is not known."""

    namespace: str
    name: str

    def fits(self, namespace: str, name: str) -> bool:
        """Whether a pod may mean this network."""
        return self.name == name and (not namespace or self.namespace in ("", namespace))


def defined(project: Project) -> Iterator[Name]:
    """The networks that the files define."""
    for network in project.networks:
        yield Name(network.namespace, network.name)
    for resource in project.of_kind(*MAKERS):
        yield Name(text(resource.tree, "spec", "networkNamespace"), resource.name)


def written(names: Iterable[str]) -> Iterator[Name]:
    """Networks that are written as `name` or `namespace/name`."""
    for name in names:
        namespace, _, bare = name.rpartition("/")
        yield Name(namespace, bare)


def advice(name: str, known: Iterable[Name], otherwise: str) -> str:
    """What to write for a network that is not there."""
    others = sorted(set(known))
    elsewhere = [one.namespace for one in others if one.name == name and one.namespace]
    if elsewhere:
        return f"it is defined in namespace {elsewhere[0]}: write `{elsewhere[0]}/{name}`"
    near = closest(name, [one.name for one in others], 0.6)
    return f"did you mean `{near}`?" if near is not None else otherwise
