"""The pods that a run shall have, and the ranks in them, as the loader of manifests reads its object."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.status.snapshot import Snapshot, Tree, name, namespace
from trainyard.document.document import Document, Place
from trainyard.document.lookup import text
from trainyard.document.source import Source
from trainyard.loaders.manifests import jobs
from trainyard.loaders.manifests.surroundings import Neighbourhood
from trainyard.model.run import Resource


class Group(NamedTuple):
    """Pods of one role. `first` is the number of its first pod among those that train, None if it does not train."""

    role: str
    pods: int | None
    first: int | None


class Shape(NamedTuple):
    """The roles of a run, and the number of processes in each pod that trains."""

    groups: tuple[Group, ...] = ()
    processes: int | None = None

    @property
    def pods(self) -> int | None:
        """The number of all pods, None if the object does not say."""
        total = 0
        for group in self.groups:
            if group.pods is None:
                return None
            total += group.pods
        return total if self.groups else None

    def group(self, role: str) -> Group | None:
        """Returns the pods of a role; the labels of pods have it in lower case. A lone role has pods without label."""
        for group in self.groups:
            if group.role.lower() == role.lower() or (not role and len(self.groups) == 1):
                return group
        return None


def shape(snapshot: Snapshot) -> Shape:
    """Returns the shape of the run, empty if its object cannot be read."""
    runtimes: dict[str, list[Resource]] = {}
    for tree in snapshot.runtimes:
        runtimes.setdefault(text(tree, "kind"), []).append(_resource(tree))
    resource = _resource(snapshot.job)
    run = jobs.load_run(resource, Neighbourhood((), None).around(resource.at), runtimes)
    if run is None:
        return Shape()
    groups: list[Group] = []
    first: int | None = 0
    for role in run.roles:
        groups.append(Group(role.name, role.replicas, first if role.trains else None))
        if role.trains and first is not None:
            first = None if role.replicas is None else first + role.replicas
    return Shape(tuple(groups), run.processes)


def _resource(tree: Tree) -> Resource:
    at = Place(Document(Source(name(tree), ""), 0, tree, ()))
    return Resource(text(tree, "kind"), text(tree, "apiVersion"), name(tree), namespace(tree), tree, at)
