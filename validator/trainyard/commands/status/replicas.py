"""The pods of a run as rows: ranks, node, addresses, phase, restarts and progress."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.commands.status import progress
from trainyard.commands.status.kinds import labels_of
from trainyard.commands.status.progress import Progress
from trainyard.commands.status.shape import Shape
from trainyard.commands.status.snapshot import Snapshot, Tree, name
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.run_labels import Labels

_NETWORKS = "k8s.v1.cni.cncf.io/network-status"
# A slower rank than this is marked; the times of equal ranks differ by a few percent.
_SLOW = 0.95


class Replica(NamedTuple):
    """A pod of a run. `number` is its place among the pods that train, None for those that do not.

    `pace` is the score of its slowest rank: the fastest rank's time divided by that of this rank.
    """

    pod: Tree
    role: str
    number: int | None
    ranks: tuple[int, int] | None
    phase: str
    restarts: int
    addresses: tuple[str, ...]
    progress: Progress
    pace: float | None = None
    is_slowest: bool = False

    @property
    def name(self) -> str:
        """The name of the pod."""
        return name(self.pod)

    @property
    def node(self) -> str:
        """The node of the pod, empty if it has none yet."""
        return text(self.pod, "spec", "nodeName")

    @property
    def rank(self) -> str:
        """The ranks in the pod, such as 3 or 8-15; empty if the pod does not train."""
        if self.ranks is None:
            return ""
        first, last = self.ranks
        return str(first) if first == last else f"{first}-{last}"

    @property
    def runs(self) -> bool:
        """True while its containers run."""
        return self.phase == "Running"


def replicas(snapshot: Snapshot, shape: Shape) -> tuple[Replica, ...]:
    """Returns the pods in the order of their ranks; those that do not train come last."""
    labels = labels_of(text(snapshot.job, "apiVersion"), text(snapshot.job, "kind"))
    pods = _newest(snapshot.pods, labels)
    numbers = _numbers(pods, labels)
    found = [_replica(pod, labels, shape, snapshot, numbers[name(pod)]) for pod in pods]
    found.sort(key=lambda replica: (replica.number is None, replica.number or 0, replica.name))
    return _with_pace(tuple(found))


def _replica(pod: Tree, labels: Labels, shape: Shape, snapshot: Snapshot, index: int) -> Replica:
    role = _role(pod, labels)
    group = shape.group(role)
    number, ranks = None, None
    if group is not None and group.first is not None:
        number, size = group.first + index, shape.processes or 1
        ranks = (number * size, number * size + size - 1)
    return Replica(
        pod=pod,
        role=role,
        number=number,
        ranks=ranks,
        phase=phase(pod),
        restarts=sum(integer(one, "restartCount") or 0 for one in items(pod, "status", "containerStatuses")),
        addresses=tuple(_addresses(pod)),
        progress=progress.from_metrics(snapshot.metrics.get(name(pod), ""), snapshot.now.timestamp()).or_else(
            progress.from_log(snapshot.logs.get(name(pod), ""))
        ),
    )


def _newest(pods: tuple[Tree, ...], labels: Labels) -> list[Tree]:
    """Returns the newest pod of each place: a Job leaves the pods that failed before."""
    newest: dict[tuple[str, ...], Tree] = {}
    for pod in sorted(pods, key=lambda pod: text(pod, "metadata", "creationTimestamp")):
        index = tuple(map(str, _index(pod, labels))) or (name(pod),)
        newest[(_role(pod, labels), *index)] = pod
    return list(newest.values())


def _numbers(pods: list[Tree], labels: Labels) -> dict[str, int]:
    """Returns the number of each pod in its role: its index, or its position where an index has several numbers."""
    numbers: dict[str, int] = {}
    for role in {_role(pod, labels) for pod in pods}:
        known = sorted((_index(pod, labels), name(pod)) for pod in pods if _role(pod, labels) == role)
        for position, (index, pod) in enumerate(known):
            numbers[pod] = index[-1] if index and not any(index[:-1]) else position
    return numbers


def _role(pod: Tree, labels: Labels) -> str:
    known = mapping(pod, "metadata", "labels")
    return next((text(known, label) for label in labels.role if text(known, label)), "")


def _index(pod: Tree, labels: Labels) -> tuple[int, ...]:
    known = {**mapping(pod, "metadata", "annotations"), **mapping(pod, "metadata", "labels")}
    return tuple(int(known[label]) for label in labels.order if str(known.get(label, "")).isdecimal())


def phase(pod: Tree) -> str:
    """Returns the phase of a pod in one word, as kubectl shows it: the reason of a container that does not run."""
    if text(pod, "metadata", "deletionTimestamp"):
        return "Terminating"
    found = text(pod, "status", "phase")
    if text(pod, "status", "reason"):
        return text(pod, "status", "reason")
    for status in containers(pod):
        waiting, ended = text(status, "state", "waiting", "reason"), mapping(status, "state", "terminated")
        if waiting and waiting not in ("PodInitializing", "ContainerCreating"):
            return waiting
        if ended and ended.get("exitCode") != 0:
            return text(ended, "reason") or "Error"
    return found


def containers(pod: Tree) -> Iterator[Tree]:
    """Yields the statuses of the containers, those of init containers first."""
    yield from (one for one in items(pod, "status", "initContainerStatuses") if isinstance(one, dict))
    yield from (one for one in items(pod, "status", "containerStatuses") if isinstance(one, dict))


def _addresses(pod: Tree) -> Iterator[str]:
    """Yields `interface=address` for each network beside the pod network, as Multus reports them."""
    try:
        networks: Any = json.loads(text(pod, "metadata", "annotations", _NETWORKS) or "[]")
    except ValueError:
        return
    for network in networks if isinstance(networks, list) else ():
        if isinstance(network, dict) and network.get("default") is not True:
            ips = [ip for ip in items(network, "ips") if isinstance(ip, str)]
            yield f"{text(network, 'interface') or '?'}={ips[0] if ips else '-'}"


def _with_pace(found: tuple[Replica, ...]) -> tuple[Replica, ...]:
    """Adds the scores, which each pod reports for all ranks."""
    scores: dict[int, float] = {}
    for replica in found:
        scores |= replica.progress.scores
    slowest = min(scores, key=lambda rank: scores[rank], default=None)
    result = []
    for replica in found:
        first, last = replica.ranks or (0, -1)
        own = [scores[rank] for rank in range(first, last + 1) if rank in scores]
        is_slowest = slowest is not None and first <= slowest <= last and scores[slowest] < _SLOW
        result.append(replica._replace(pace=min(own, default=None), is_slowest=is_slowest))
    return tuple(result)
