"""Networks by name, as pods request them: those that the files define, and those of the cluster."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from trainyard.document.lookup import text
from trainyard.engine.suggestions import closest_match
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project
from trainyard.startup import NamedTuple

# Objects for which an operator creates a NetworkAttachmentDefinition of the same name in `spec.networkNamespace`.
MAKERS = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork")


class Name(NamedTuple):
    """The name of a network; the namespace is empty if it is not known."""

    namespace: str
    name: str


def defined_networks(project: Project) -> frozenset[Name]:
    """Returns the networks that the files define."""
    return _names.of(project)


def is_defined(project: Project, namespace: str, name: str) -> bool:
    """True if the files define a network to which a pod of this namespace may refer by this name."""
    namespaces = _namespaces_by_name.of(project).get(name, set())
    return bool(namespaces) and (not namespace or bool(namespaces & {namespace, ""}))


def _defined(project: Project) -> Iterator[Name]:
    for network in project.networks:
        yield Name(network.namespace, network.name)
    for resource in project.of_kind(*MAKERS):
        yield Name(text(resource.tree, "spec", "networkNamespace"), resource.name)


def is_among(known: Iterable[Name], namespace: str, name: str) -> bool:
    """True if one of the networks is what a pod of this namespace refers to by this name."""
    return any(one.name == name and (not namespace or one.namespace in ("", namespace)) for one in known)


def parse_names(names: Iterable[str]) -> Iterator[Name]:
    """Yields the networks in a list of `name` or `namespace/name`."""
    for name in names:
        namespace, _, bare = name.rpartition("/")
        yield Name(namespace, bare)


def advice(name: str, known: frozenset[Name], otherwise: str) -> str:
    """Returns the help for a network that does not exist."""
    names = _bare_names(known)
    if name in names and (elsewhere := min((one.namespace for one in known if one.name == name), default="")):
        return f"it is defined in namespace {elsewhere}: write `{elsewhere}/{name}`"
    near = closest_match(name, names, 0.6)
    return f"did you mean `{near}`?" if near is not None else otherwise


@functools.lru_cache(maxsize=8)
def _bare_names(networks: frozenset[Name]) -> frozenset[str]:
    return frozenset(one.name for one in networks)


def _by_name(project: Project) -> dict[str, set[str]]:
    """Returns the namespaces of the networks of each name."""
    found: dict[str, set[str]] = {}
    for one in defined_networks(project):
        found.setdefault(one.name, set()).add(one.namespace)
    return found


_names: LastIndex[Project, frozenset[Name]] = LastIndex(lambda project: frozenset(_defined(project)))
_namespaces_by_name: LastIndex[Project, dict[str, set[str]]] = LastIndex(_by_name)
