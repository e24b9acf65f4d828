"""Kueue queues in the files: the ClusterQueue of a run, its flavors and quotas.

Source: kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta1 and v1beta2 (ClusterQueue: `cohort`, later `cohortName`) and
pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.objects.folders import nearest
from trainyard.analysis.objects.known_objects import Known, everywhere, fitting
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource, Run


class Flavor(NamedTuple):
    """A flavor of a group; `quotas` are the largest amounts by resource, None for one without a known limit."""

    name: str
    quotas: dict[str, float | None]
    at: Place


class Group(NamedTuple):
    """Resources that Kueue takes from one flavor."""

    resources: frozenset[str]
    flavors: tuple[Flavor, ...]


class Queue(NamedTuple):
    """A ClusterQueue with its groups."""

    name: str
    groups: tuple[Group, ...]
    at: Place

    def group_of(self, resource: str) -> Group | None:
        """Returns the group that covers a resource."""
        return next((group for group in self.groups if resource in group.resources), None)


def queue_of(run: Run, project: Project) -> Queue | None:
    """Returns the ClusterQueue that a run waits in; None if the files do not show it, or not its resources."""
    name = run.labels.get(QUEUE)
    if not isinstance(name, str) or not name:
        return None
    at = run.at.child("metadata", "labels", QUEUE)
    local = _only(fitting(project, "LocalQueue", name, run.namespace, at))
    if local is None or not _is_meant(run, local):
        return None
    known = everywhere(project, "ClusterQueue", text(local.tree, "spec", "clusterQueue"))
    found = _only(nearest(((one, one.at) for one in known), local.at))
    queue = _loaded(found) if found is not None else None
    # `${GPU_RESOURCE}` stands for any resource.
    is_filled = queue is not None and any("{" in name for group in queue.groups for name in group.resources)
    return None if is_filled else queue


def _is_meant(run: Run, local: Known) -> bool:
    """False for a queue of another file in a namespace that the job does not name: an example beside this one."""
    is_near = run.at.document.source is local.at.document.source
    return bool(run.namespace) or is_near or local.namespace in ("", "default")


def _only(found: list[Known]) -> Known | None:
    return found[0] if len(found) == 1 else None


def _loaded(queue: Known) -> Queue:
    spec = mapping(queue.tree, "spec")
    borrows = bool(text(spec, "cohort") or text(spec, "cohortName"))
    groups = [
        Group(
            frozenset(str(name) for name in items(group, "coveredResources")),
            tuple(
                Flavor(
                    text(flavor, "name"),
                    {text(one, "name"): _most(one, borrows=borrows) for one in items(flavor, "resources")},
                    queue.at.child("spec", "resourceGroups", number, "flavors", index),
                )
                for index, flavor in enumerate(items(group, "flavors"))
            ),
        )
        for number, group in enumerate(items(spec, "resourceGroups"))
    ]
    return Queue(queue.name, tuple(groups), queue.at)


def _most(resource: Any, *, borrows: bool) -> float | None:
    """The largest amount that a queue may ever use; None if it may borrow without a limit."""
    tree = mapping(resource)
    nominal = parse_quantity(tree.get("nominalQuota"))
    if not borrows or nominal is None:
        return nominal
    limit = parse_quantity(tree.get("borrowingLimit"))
    return nominal + limit if limit is not None else None


def flavor_labels(flavor: Flavor, project: Project) -> dict[str, Any] | None:
    """Returns the node labels of a flavor; None if the files do not define it."""
    spec = flavor_spec(flavor, project)
    return mapping(spec, "nodeLabels") if spec is not None else None


def flavor_spec(flavor: Flavor, project: Project) -> dict[str, Any] | None:
    """Returns the spec of a flavor; None if the files do not define it."""
    found = everywhere(project, "ResourceFlavor", flavor.name)
    known = _only(nearest(((one, one.at) for one in found), flavor.at))
    return mapping(known.tree, "spec") if known is not None else None


def flavors_of(queue: Resource) -> Iterator[tuple[str, Place]]:
    """Yields the names of the flavors of a queue or a cohort, with their places."""
    for number, group in enumerate(items(queue.tree, "spec", "resourceGroups")):
        for index, flavor in enumerate(items(group, "flavors")):
            if text(flavor, "name"):
                at = queue.at.child("spec", "resourceGroups", number, "flavors", index, "name")
                yield text(flavor, "name"), at


def unnamed_flavors(queue: Resource, project: Project) -> list[str]:
    """Returns the flavors that the file of a queue defines and nothing names, if they are clearly meant.

    They are if the files define none of the flavors that the queue names, and the file as many others at least.
    """
    wanted = {name for name, _ in flavors_of(queue)}
    if not wanted or any("$" in name or everywhere(project, "ResourceFlavor", name) for name in wanted):
        return []
    free = _unused_flavors.of(project).get(id(queue.at.document.source), [])
    return free if len(free) >= len(wanted) else []


def _find_unused_flavors(project: Project) -> dict[int, list[str]]:
    """Returns the flavors that no queue and no cohort names, by the identity of their file."""
    used = {name for one in project.of_kind("ClusterQueue", "Cohort") for name, _ in flavors_of(one)}
    found: dict[int, list[str]] = {}
    for one in project.of_kind("ResourceFlavor"):
        if one.name and one.name not in used:
            found.setdefault(id(one.at.document.source), []).append(one.name)
    return found


_unused_flavors: LastIndex[Project, dict[int, list[str]]] = LastIndex(_find_unused_flavors)
