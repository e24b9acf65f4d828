"""The objects of one run at one moment, as the API server returns them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from trainyard.document.lookup import items, text

Tree = dict[str, Any]


class Snapshot(NamedTuple):
    """A run with all that tells its state.

    `logs` and `metrics` hold the last lines of each pod's log, with times, and the metrics that the pod serves, by
    the pod's name. `runtimes` are runtimes of TrainJobs, `workloads` all Workloads of Kueue in the namespace.
    """

    job: Tree
    now: datetime.datetime
    pods: tuple[Tree, ...] = ()
    events: tuple[Tree, ...] = ()
    claims: tuple[Tree, ...] = ()
    workloads: tuple[Tree, ...] = ()
    groups: tuple[Tree, ...] = ()
    runtimes: tuple[Tree, ...] = ()
    logs: Mapping[str, str] = MappingProxyType({})
    metrics: Mapping[str, str] = MappingProxyType({})
    place: tuple[int, int] | None = None


def name(tree: Tree) -> str:
    """Returns the name of an object."""
    return text(tree, "metadata", "name")


def namespace(tree: Tree) -> str:
    """Returns the namespace of an object."""
    return text(tree, "metadata", "namespace")


def is_owned_by(tree: Tree, owner: Tree) -> bool:
    """True if an object has another one among its owners."""
    uid = text(owner, "metadata", "uid")
    return any(text(one, "uid") == uid for one in items(tree, "metadata", "ownerReferences"))


def moment(words: str) -> datetime.datetime | None:
    """Returns a time of the API, such as 2026-11-25T09:54:25Z or with nanoseconds; None for anything else."""
    try:
        found = datetime.datetime.fromisoformat(words)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def age(snapshot: Snapshot, words: str) -> float | None:
    """Returns the seconds since a time of the API."""
    then = moment(words)
    return None if then is None else max(0.0, (snapshot.now - then).total_seconds())


def when(event: Tree) -> str:
    """Returns the time of an event; its form makes it comparable as text."""
    return text(event, "lastTimestamp") or text(event, "eventTime") or text(event, "metadata", "creationTimestamp")
