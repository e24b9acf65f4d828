"""Reads a run from a cluster: its objects, pods, events, nodes and logs. Secrets and ConfigMaps are never read."""

from __future__ import annotations

from typing import Any, NamedTuple

from trainyard.commands.audit import kinds
from trainyard.commands.audit.cluster import FORBIDDEN, MISSING, Cluster, ClusterError, RequestRefusedError, in_parallel
from trainyard.commands.audit.references import is_name
from trainyard.commands.status.errors import NoRunError
from trainyard.commands.status.kinds import RELEASE, run_kinds
from trainyard.commands.status.reading import Reader
from trainyard.commands.status.replicas import containers
from trainyard.document.lookup import items, mapping, text

Tree = dict[str, Any]
# Labels of pods that hold the name of the run, or of its Helm release.
_LABELS = (*{kind.labels.run for kind in run_kinds()}, RELEASE)
_OWNERS = 4
# The last lines of a log have the failure; a log without an end would fill the disk.
TAIL_LINES = 20_000


class Log(NamedTuple):
    """The log of a container; `previous` is that before its last restart."""

    pod: str
    container: str
    previous: bool
    text: str


class Run(NamedTuple):
    """The answers of a cluster about a run."""

    name: str
    namespace: str
    objects: list[Tree]
    pods: list[Tree]
    events: list[Tree]
    nodes: list[Tree]
    logs: list[Log]
    notes: list[str]


class _Reader:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster, self.namespace = cluster, namespace
        self.notes: dict[str, None] = {}

    def get(self, path: str, **query: str | int) -> Tree:
        """Returns an object, or an empty one if it does not exist or may not be read."""
        try:
            return self.cluster.get(path, **query)
        except RequestRefusedError as error:
            if error.status != MISSING:
                self.notes[f"not read: {path.rpartition('/')[2]}: {error}"] = None
            return {}

    def listed(self, resource: str, **query: str | int) -> list[Tree]:
        return list(items(self.get(f"/api/v1/namespaces/{self.namespace}/{resource}", **query), "items"))

    def log(self, pod: str, container: str, *, previous: bool) -> Log | None:
        path = f"/api/v1/namespaces/{self.namespace}/pods/{pod}/log"
        query: dict[str, str | int] = {"container": container, "tailLines": TAIL_LINES, "timestamps": "true"}
        if previous:
            query["previous"] = "true"
        try:
            lines = self.cluster.lines(path, endless=False, **query)
            return Log(pod, container, previous, "\n".join(lines))
        except RequestRefusedError as error:
            # A container that waits has no log.
            if error.status == FORBIDDEN:
                self.notes[f"not read: logs: {error}"] = None
            return None


def collect(cluster: Cluster, words: str, namespace: str) -> Run:
    """Returns what the cluster says about a run, named as for `trainyard status`, or about a pod.

    Raises:
        ClusterError: The cluster does not answer, has no such run, or the user may not list runs.
    """
    if not is_name(namespace):
        raise ClusterError(f"`{namespace}` is not a valid namespace")
    reader, known = _Reader(cluster, namespace), Reader(cluster)
    try:
        job = known.find(words, namespace)
    except NoRunError as error:
        return _rest(reader, words, error)
    pods = known.pods(job)
    return _run(reader, text(job, "metadata", "name"), [job], pods)


def _rest(reader: _Reader, name: str, error: NoRunError) -> Run:
    """Returns what is left of a run whose object is gone, or a pod of its own."""
    if not is_name(name):
        raise ClusterError(str(error)) from None
    run = _run(reader, name, [], [pod for pod in reader.listed("pods") if _belongs(pod, name)])
    if not (run.pods or run.objects or run.events):
        raise ClusterError("; ".join((str(error), *run.notes))) from None
    return run


def _run(reader: _Reader, name: str, jobs: list[Tree], pods: list[Tree]) -> Run:
    owners = {(text(one, "kind"), text(one, "metadata", "name")): one for one in (*_owners(reader, pods), *jobs)}
    listed = reader.listed("persistentvolumeclaims")
    claims = [claim for claim in listed if _is_of(text(claim, "metadata", "name"), name)]
    objects = [*owners.values(), *({"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim} for claim in claims)]
    about = {text(tree, "metadata", "name") for tree in (*pods, *objects)} | {name}
    events = [one for one in reader.listed("events") if _is_about(one, name, about)]
    names = sorted({text(pod, "spec", "nodeName") for pod in pods} - {""})
    nodes = [node for node in (reader.get(f"/api/v1/nodes/{node}") for node in names) if node]
    logs = _logs(reader, pods)
    return Run(name, reader.namespace, objects, pods, events, nodes, logs, list(reader.notes))


def _belongs(pod: Tree, name: str) -> bool:
    labels = mapping(pod, "metadata", "labels")
    owners = (text(owner, "name") for owner in items(pod, "metadata", "ownerReferences"))
    return text(pod, "metadata", "name") == name or name in owners or any(labels.get(key) == name for key in _LABELS)


def _is_of(one: str, name: str) -> bool:
    return one == name or one.startswith(f"{name}-")


def _is_about(event: Tree, name: str, about: set[str]) -> bool:
    one = text(event, "involvedObject", "name")
    if text(event, "involvedObject", "kind") == "Workload":
        # Kueue puts the kind of the job before its name: `trainjob-run-42-1a2b3`.
        one = one.partition("-")[2]
    return one in about or _is_of(one, name)


def _owners(reader: _Reader, pods: list[Tree]) -> list[Tree]:
    """Returns the objects that own the pods, and the owners of those."""
    found: dict[str, Tree] = {}
    level = pods
    for _ in range(_OWNERS):
        paths = {
            _path(owner, reader.namespace): owner
            for tree in level
            for owner in items(tree, "metadata", "ownerReferences")
        }
        level = []
        for path, owner in paths.items():
            if path not in found and (tree := reader.get(path)):
                found[path] = {"apiVersion": text(owner, "apiVersion"), "kind": text(owner, "kind"), **tree}
                level.append(found[path])
    return list(found.values())


def _path(owner: Tree, namespace: str) -> str:
    group, _, version = text(owner, "apiVersion").rpartition("/")
    root = kinds.Kind(group, version, text(owner, "kind")).path
    return f"{root}/namespaces/{namespace}/{text(owner, 'kind').lower()}s/{text(owner, 'name')}"


def _logs(reader: _Reader, pods: list[Tree]) -> list[Log]:
    wanted = [
        (text(pod, "metadata", "name"), text(status, "name"), previous)
        for pod in pods
        for status in containers(pod)
        for previous in ((False, True) if status.get("restartCount") else (False,))
    ]
    logs = in_parallel(lambda one: reader.log(one[0], one[1], previous=one[2]), wanted)
    return [log for log in logs if log is not None and log.text]
