"""Finds runs in a cluster and reads their objects. What the user may not read is left out, with a note."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trainyard.commands.audit.cluster import FORBIDDEN, Cluster, ClusterError, RequestRefusedError, in_parallel
from trainyard.commands.audit.references import is_name
from trainyard.commands.status import queue
from trainyard.commands.status.errors import NoRunError
from trainyard.commands.status.kinds import RELEASE, RunKind, labels_of, run_kinds
from trainyard.commands.status.snapshot import Snapshot, Tree, is_owned_by, name, namespace
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.selection import nearest
from trainyard.facts.jobs.kubeflow import MAIN_CONTAINERS, POD_GROUP_VERSIONS

# Reports are read from this many pods, in the order of their names: those of rank 0 are among them.
MOST_REPORTS = 64
Query = Mapping[str, str | int]
_TAIL: Query = {"tailLines": 60, "limitBytes": 64 * 1024}
# The container that trains, in the kinds whose controllers ask for a name.
_MAIN = frozenset(MAIN_CONTAINERS.values())
_KUEUE = ("v1beta2", "v1beta1")


class Reader:
    """Reads runs from a cluster; `notes` names what was left out."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._refused: dict[str, None] = {}
        self._has_more_pods = False
        # The names of all runs that were listed: those of their objects begin with them.
        self._names: set[str] = set()
        # Lists that several runs of a namespace share.
        self._shared: dict[str, list[Tree]] | None = None

    @property
    def notes(self) -> list[str]:
        """The parts that were left out, in at most two lines."""
        refused = ", ".join(sorted(self._refused))
        notes = [f"left out, because the user may not read it: {refused}"] if refused else []
        if self._has_more_pods:
            notes.append(f"steps are read from the first {MOST_REPORTS} pods")
        return notes

    def runs(self, place: str, kind: str = "", run: str = "") -> list[Tree]:
        """Returns the runs in a namespace, or in all with an empty one; those of a kind or with a name if given.

        Raises:
            ClusterError: The user may not list any of the kinds that the cluster has.
        """
        wanted = [one for one in run_kinds() if not kind or kind.lower() in _names(one)]
        query = {"fieldSelector": f"metadata.name={run}"} if run else {}
        found: dict[str, Tree] = {}
        for listed in in_parallel(lambda one: self._of_kind(one, place, query), wanted):
            for tree in listed:
                # MPIJob has two versions, and a server that has both returns each object in both.
                found.setdefault(text(tree, "metadata", "uid") or f"{text(tree, 'kind')}/{name(tree)}", tree)
        if not found and all(one.resource in self._refused for one in wanted):
            where = f"namespace {place}" if place else "all namespaces"
            raise ClusterError(f"the user may not list runs in {where}; `{wanted[0].resource}` is one of their kinds")
        kinds = {one.kind.name for one in run_kinds()}
        own = [tree for tree in found.values() if not _is_part(tree, kinds)]
        self._names.update(map(name, own))
        return sorted(own, key=_order)

    def find(self, words: str, place: str) -> Tree:
        """Returns the run that the words name: NAME, KIND/NAME, or the name of a Helm release. Raises `NoRunError`."""
        kind, _, run = words.rpartition("/")
        if not is_name(run):
            raise NoRunError(f"`{words}` is not the name of a run; write NAME or KIND/NAME, such as pytorchjob/llm")
        if kind and not any(kind.lower() in _names(one) for one in run_kinds()):
            known = dict.fromkeys(one.kind.name.lower() for one in run_kinds())
            hint = nearest(kind.lower(), known) or f"known are {', '.join(known)}"
            raise NoRunError(f"`{kind}` is no kind of runs; {hint}")
        known_runs = self.runs(place, kind)
        found = [tree for tree in known_runs if name(tree) == run]
        if not found:
            found = [tree for tree in known_runs if text(mapping(tree, "metadata", "labels"), RELEASE) == run]
        if len(found) > 1:
            named = ", ".join(f"{text(tree, 'kind').lower()}/{name(tree)}" for tree in found)
            raise NoRunError(f"`{run}` is the name of several runs; name one of {named}")
        if not found:
            raise NoRunError(f"there is no run `{words}` in namespace {place}; {self._advice(run, known_runs)}")
        return found[0]

    def _advice(self, run: str, known: list[Tree]) -> str:
        hint = nearest(run, [name(tree) for tree in known])
        if hint:
            return hint
        return "`trainyard status` lists those of a namespace, -n names another one"

    def again(self, job: Tree) -> Tree:
        """Returns the newest state of a run. Raises `NoRunError` if it is gone."""
        found = self.runs(namespace(job), text(job, "kind"), name(job))
        if not found:
            raise NoRunError(f"the run {text(job, 'kind')} {namespace(job)}/{name(job)} is gone")
        return found[0]

    def snapshot(self, job: Tree, *, reports: bool = True) -> Snapshot:
        """Returns all that tells the state of a run. `reports` reads logs and metrics of its pods, too."""
        place = namespace(job)
        core = f"/api/v1/namespaces/{place}"
        calls: tuple[Callable[[], Any], ...] = (
            lambda: self.pods(job),
            lambda: self._optional("events", f"{core}/events"),
            lambda: self._optional("persistentvolumeclaims", f"{core}/persistentvolumeclaims"),
            lambda: self._workloads(place),
            lambda: self._groups(place, job),
            lambda: self._runtimes(job),
        )
        pods, events, claims, workloads, groups, runtimes = in_parallel(lambda call: call(), calls)
        snapshot = Snapshot(
            job,
            datetime.datetime.now(datetime.UTC),
            pods=tuple(pods),
            events=tuple(event for event in events if self._is_about(event, job, claims)),
            claims=tuple(claims),
            workloads=tuple(workloads),
            groups=tuple(groups),
            runtimes=tuple(runtimes),
        )
        waits = queue.waiting(snapshot)
        if waits is not None and waits.place is not None:
            snapshot = snapshot._replace(place=self._place(job, waits.queue))
        return self._with_reports(snapshot) if reports else snapshot

    def snapshots(self, jobs: Iterable[Tree]) -> Iterator[Snapshot]:
        """Yields a snapshot of each run, without reports; what they share is read once."""
        self._shared = {}
        for job in jobs:
            yield self.snapshot(job, reports=False)
        self._shared = None

    def pods(self, job: Tree) -> list[Tree]:
        """Returns the pods of a run. Raises `ClusterError` if the user may not list them."""
        label = labels_of(text(job, "apiVersion"), text(job, "kind")).run
        run = text(job, "status", "rayClusterName") or name(job)
        try:
            return list(
                self._cluster.objects(f"/api/v1/namespaces/{namespace(job)}/pods", labelSelector=f"{label}={run}")
            )
        except RequestRefusedError as error:
            if error.status == FORBIDDEN:
                raise ClusterError(f"the user may not `list` `pods` in namespace {namespace(job)}") from error
            raise ClusterError(f"the pods cannot be read: {error}") from error

    def pods_labelled(self, place: str, selector: str) -> list[Tree]:
        """Returns the pods of a namespace with these labels, none if the user may not list them."""
        return self._optional("pods", f"/api/v1/namespaces/{place}/pods", labelSelector=selector)

    def log(self, pod: Tree, query: Query, *, endless: bool = False, previous: bool = False) -> Iterator[str]:
        """Returns the lines of the log of a pod's main container, each with its time. Raises as `Cluster.lines`."""
        path = f"/api/v1/namespaces/{namespace(pod)}/pods/{name(pod)}/log"
        more: dict[str, str | int] = {"container": main_container(pod), "timestamps": "true"}
        more |= {"follow": "true"} if endless else {}
        more |= {"previous": "true"} if previous else {}
        return self._cluster.lines(path, endless=endless, **more, **query)

    def _with_reports(self, snapshot: Snapshot) -> Snapshot:
        started = [pod for pod in sorted(snapshot.pods, key=name) if text(pod, "status", "phase") != "Pending"]
        self._has_more_pods = len(started) > MOST_REPORTS
        started = started[:MOST_REPORTS]
        logs = in_parallel(self._tail, started)
        pages = in_parallel(self._metrics, started)
        return snapshot._replace(
            logs={name(pod): log for pod, log in zip(started, logs, strict=True) if log},
            metrics={name(pod): page for pod, page in zip(started, pages, strict=True) if page},
        )

    def _tail(self, pod: Tree) -> str:
        try:
            return "\n".join(self.log(pod, _TAIL))
        except RequestRefusedError as error:
            # A container that waits has no log.
            self._note(error, "pods/log")
            return ""

    def _metrics(self, pod: Tree) -> str:
        """Returns the metrics that a running pod serves at its port `metrics`, through the API server."""
        ports = [port for one in items(pod, "spec", "containers") for port in items(one, "ports")]
        number = next((integer(port, "containerPort") for port in ports if text(port, "name") == "metrics"), None)
        if number is None or text(pod, "status", "phase") != "Running":
            return ""
        path = f"/api/v1/namespaces/{namespace(pod)}/pods/{name(pod)}:{number}/proxy/metrics"
        try:
            return "\n".join(self._cluster.lines(path))
        except RequestRefusedError as error:
            # The program may not serve them yet.
            self._note(error, "pods/proxy")
            return ""

    def _of_kind(self, kind: RunKind, place: str, query: dict[str, str]) -> list[Tree]:
        api_version, title = kind.kind.api_version, kind.kind.name
        listed = self._optional(kind.resource, kind.path(place), **query)
        return [{**tree, "apiVersion": api_version, "kind": title} for tree in listed]

    def _optional(self, resource: str, path: str, **query: str) -> list[Tree]:
        if self._shared is not None and path in self._shared:
            return self._shared[path]
        try:
            found = list(self._cluster.objects(path, **query))
        except RequestRefusedError as error:
            self._note(error, resource)
            found = []
        if self._shared is not None:
            self._shared[path] = found
        return found

    def _workloads(self, place: str) -> list[Tree]:
        paths = [f"/apis/kueue.x-k8s.io/{version}/namespaces/{place}/workloads" for version in _KUEUE]
        lists = (self._optional("workloads.kueue.x-k8s.io", path) for path in paths)
        return next((found for found in lists if found), [])

    def _groups(self, place: str, job: Tree) -> list[Tree]:
        paths = {one: f"/apis/{one}/namespaces/{place}/podgroups" for one in POD_GROUP_VERSIONS.values()}
        lists = ((version, self._optional("podgroups", path)) for version, path in paths.items())
        found = [{**tree, "apiVersion": version} for version, listed in lists for tree in listed]
        return [tree for tree in found if name(tree).startswith(name(job))]

    def _runtimes(self, job: Tree) -> list[Tree]:
        if text(job, "kind") != "TrainJob":
            return []
        kind = text(job, "spec", "runtimeRef", "kind") or "ClusterTrainingRuntime"
        inside = f"/namespaces/{namespace(job)}" if kind == "TrainingRuntime" else ""
        api = text(job, "apiVersion")
        path = f"/apis/{api}{inside}/{kind.lower()}s/{text(job, 'spec', 'runtimeRef', 'name')}"
        try:
            return [{**self._cluster.get(path), "apiVersion": api, "kind": kind}]
        except RequestRefusedError as error:
            self._note(error, f"{kind.lower()}s")
            return []

    def _place(self, job: Tree, local_queue: str) -> tuple[int, int] | None:
        """Returns the place that Kueue's own API tells, None if it does not; it needs a right of its own."""
        for version in _KUEUE:
            path = f"/apis/visibility.kueue.x-k8s.io/{version}/namespaces/{namespace(job)}/localqueues/{local_queue}"
            try:
                listed = items(self._cluster.get(f"{path}/pendingworkloads"), "items")
            except RequestRefusedError:
                continue
            for one in listed:
                if is_owned_by(one, job):
                    return (integer(one, "positionInLocalQueue") or 0) + 1, len(listed)
        return None

    def _is_about(self, event: Tree, job: Tree, claims: list[Tree]) -> bool:
        """True for an event about an object of the run: its pods may be gone, so that only names tell."""
        about = text(event, "involvedObject", "name")
        runs = [run for run in self._names if about == run or about.startswith(f"{run}-")]
        return max(runs, key=len, default="") == name(job) or any(name(claim) == about for claim in claims)

    def _note(self, error: RequestRefusedError, resource: str) -> None:
        if error.status == FORBIDDEN:
            self._refused[resource] = None


def main_container(pod: Tree) -> str:
    """Returns the name of the container that trains, or the first one."""
    chosen = text(mapping(pod, "metadata", "annotations"), "kubectl.kubernetes.io/default-container")
    names = [text(one, "name") for one in items(pod, "spec", "containers")]
    return chosen or next((one for one in names if one in _MAIN), names[0] if names else "")


def _names(kind: RunKind) -> tuple[str, ...]:
    """Returns the words for a kind: singular, plural, and both with the group."""
    singular = kind.kind.name.lower()
    group = f".{kind.kind.group}" if kind.kind.group else ""
    return singular, f"{singular}s", f"{singular}{group}", f"{singular}s{group}"


def _order(tree: Tree) -> tuple[str, str, str]:
    return namespace(tree), name(tree), text(tree, "kind")


def _is_part(tree: Tree, kinds: set[str]) -> bool:
    """True for a JobSet or a Job that belongs to another run, such as those of a TrainJob."""
    return any(text(owner, "kind") in kinds for owner in items(tree, "metadata", "ownerReferences"))
