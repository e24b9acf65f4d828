"""Follow a training run to its end: stream its logs, and report the reason when it cannot start or fails."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind, pods_of

POLL_SECONDS = 0.5
# To follow one log, which a busy kubelet does not always send.
ATTEMPTS = 5
ENDED = ("Succeeded", "Failed")
# Waiting reasons that the kubelet retries for ever. The first pull error may be temporary; ImagePullBackOff means that
# it was not.
PERMANENT_REASONS = ("ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")

# A controller repeats the creation of a pod after these, for example while a busy webhook does not answer in time.
REPEATED = re.compile(r"failed calling webhook|timeout|timed out", re.IGNORECASE)

# After the end of a job: a busy machine takes long to send the log of a pod that has ended. Others may run for ever.
LAST_LINES_SECONDS = 60
LIVE_LINES_SECONDS = 5

# On a cluster of fixed size: the runs of other tests end within this time, and a pending volume is bound.
UNSCHEDULABLE_SECONDS = 120


@dataclass
class Outcome:
    """The end of a run: `reason` is why it did not succeed, `lines` each pod's log, `nodes` the node of each pod."""

    succeeded: bool
    reason: str
    seconds: float
    lines: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> list[str]:
        """All lines of all pods, in the order of the pods' names."""
        return [line for pod in sorted(self.lines) for line in self.lines[pod]]

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results that the test programs print: the JSON of each line that starts with `result`."""
        word = "result "
        return [json.loads(line.removeprefix(word)) for line in self.log if line.startswith(word)]


class Follower:
    """Watches one job and its pods; `on_line(pod, line)` is called for every line of a log."""

    def __init__(
        self,
        kubeconfig: Path,
        namespace: str,
        name: str,
        kind: Kind,
        on_line: Callable[[str, str], None],
        unschedulable_seconds: float,
    ) -> None:
        self._connection = api.connect(kubeconfig)
        self._core = client.CoreV1Api(self._connection.client)
        self._namespace = namespace
        self._name = name
        self._kind = kind
        self._on_line = on_line
        self._unschedulable_seconds = unschedulable_seconds
        self._readers: dict[tuple[str, str], threading.Thread] = {}
        self._unschedulable: dict[str, float] = {}
        # Number of the first line of a pod's newest container.
        self._began: dict[str, int] = {}
        self.lines: dict[str, list[str]] = {}
        self.nodes: dict[str, str] = {}

    def until_end(self, seconds: float) -> Outcome:
        """Return when the job has succeeded, has failed, cannot start, or has not ended within this many seconds."""
        started = time.monotonic()
        succeeded, reason = False, f"it did not end within {seconds:.0f} s"
        while time.monotonic() - started < seconds:
            ended = self._poll()
            if ended is not None:
                succeeded, reason = ended
                break
            time.sleep(POLL_SECONDS)
        # A pod may have started and ended since the last poll, and a busy API server does not answer each request.
        pods: list[Any] = []
        with suppress(ClusterError):
            pods = _patiently(self._pods, what="the pods of a run that has ended")
            self._read_logs(pods)
        self._finish_reading(pods)
        return Outcome(succeeded, reason, time.monotonic() - started, self.lines, self.nodes)

    def _finish_reading(self, pods: list[Any]) -> None:
        # A log stream ends only with its pod.
        live = {pod.metadata.name for pod in pods if pod.status.phase == "Running"}
        began = time.monotonic()
        for (name, _), reader in sorted(self._readers.items(), key=lambda item: item[0][0] in live):
            seconds = LIVE_LINES_SECONDS if name in live else LAST_LINES_SECONDS
            reader.join(timeout=max(0.0, began + seconds - time.monotonic()))
        for pod in pods:
            name = pod.metadata.name
            readers = [reader for (of, _), reader in self._readers.items() if of == name]
            if pod.status.phase in ENDED and not any(reader.is_alive() for reader in readers):
                with suppress(ClusterError):
                    self._complete(name, pod.spec.containers[0].name)

    def _complete(self, pod: str, container: str) -> None:
        """Add the lines that the stream of a log lacks: it ends early if the kubelet does not answer in time."""

        def whole() -> list[str]:
            text = self._core.read_namespaced_pod_log(pod, self._namespace, container=container)
            # As the stream does; `splitlines` also splits at the `\r` of progress bars.
            return [line.rstrip() for line in io.StringIO(text, newline="\n")]

        found = _patiently(whole, what=f"the log of {pod}")
        for line in found[len(self.lines[pod]) - self._began[pod] :]:
            self._add(pod, line)

    def _poll(self) -> tuple[bool, str] | None:
        try:
            pods = self._pods()
            self._read_logs(pods)
            return self._ended() or self._cannot_start(pods)
        except api.NO_ANSWER:  # the next poll may succeed
            return None

    def _pods(self) -> list[Any]:
        selector = pods_of(self._kind, self._name)
        return api.objects(self._connection, "v1", "Pod", namespace=self._namespace, label_selector=selector)

    def _ended(self) -> tuple[bool, str] | None:
        job = api.find(self._connection, *self._kind, self._name, self._namespace)
        if job is None:
            return False, f"{self._kind[1]} {self._name} does not exist in namespace {self._namespace}"
        for condition in (job.status and job.status.conditions) or []:
            if condition.status == "True" and condition.type in ("Succeeded", "Complete", "Failed"):
                return condition.type != "Failed", str(condition.message)
        return None

    def _cannot_start(self, pods: list[Any]) -> tuple[bool, str] | None:
        for pod in pods:
            for status in _container_statuses(pod):
                waiting = status.state.waiting
                if waiting is not None and waiting.reason in PERMANENT_REASONS:
                    return False, f"pod {pod.metadata.name} cannot start: {waiting.reason}: {waiting.message}"
            if (message := self._unschedulable_message(pod)) is not None:
                seconds = f"{self._unschedulable_seconds:.0f} s"
                return False, f"pod {pod.metadata.name} was not scheduled within {seconds}: {message}"
        if not pods:
            of_trainjob = self._kind == TRAINJOB
            maker = f"{self._name}-node-0" if of_trainjob else self._name
            reason = "FailedCreate" if of_trainjob else "FailedCreatePod"
            selector = f"involvedObject.name={maker},reason={reason}"
            for event in api.objects(
                self._connection, "v1", "Event", namespace=self._namespace, field_selector=selector
            ):
                if not REPEATED.search(str(event.message)):
                    return False, f"its pods cannot be created: {event.message}"
        return None

    def _unschedulable_message(self, pod: Any) -> str | None:
        for condition in pod.status.conditions or []:
            if condition.type == "PodScheduled" and condition.reason == "Unschedulable":
                since = self._unschedulable.setdefault(pod.metadata.name, time.monotonic())
                if time.monotonic() - since > self._unschedulable_seconds:
                    return str(condition.message)
        return None

    def _read_logs(self, pods: list[Any]) -> None:
        for pod in pods:
            name = pod.metadata.name
            if pod.spec.nodeName:
                self.nodes[name] = pod.spec.nodeName
            # The stream of a log ends with a container. The kubelet may start it again in the same pod, and a job that
            # was suspended has new pods of the same names.
            container = pod.spec.containers[0].name
            reader = name, f"{pod.metadata.uid}/{_starts(pod, container)}"
            if reader not in self._readers and pod.status.phase in ("Running", *ENDED):
                self._began[name] = len(self.lines.setdefault(name, []))
                self._readers[reader] = threading.Thread(target=self._read, args=(name, container), daemon=True)
                self._readers[reader].start()

    def _read(self, pod: str, container: str) -> None:
        began, read = self._began[pod], 0
        for _ in range(ATTEMPTS):
            try:
                response = self._core.read_namespaced_pod_log(
                    pod, self._namespace, container=container, follow=True, _preload_content=False
                )
                for number, line in enumerate(response):
                    if number == read:
                        self._add(pod, line.decode(errors="replace").rstrip())
                        read += 1
            except (ApiException, HTTPError, OSError) as error:
                # A failing Job deletes its pods, and their logs with them: the next attempt must not come late.
                self._on_line(pod, f"(its log ended early: {error})")
                time.sleep(POLL_SECONDS)
            else:
                return
            if self._began[pod] != began:  # another container's
                return

    def _add(self, pod: str, line: str) -> None:
        self.lines[pod].append(line)
        self._on_line(pod, line)


def _patiently(answer: Callable[[], list[Any]], *, what: str) -> list[Any]:
    """Return what an API answers, which may take a few attempts; raise `ClusterError` if it does not answer."""
    return api.wait_until(lambda: [answer()], what=what, seconds=LAST_LINES_SECONDS)[0]


def _starts(pod: Any, container: str) -> int:
    """Return the number of times that the kubelet has started a container again."""
    statuses = pod.status.containerStatuses or []
    return next((int(status.restartCount) for status in statuses if status.name == container), 0)


def _container_statuses(pod: Any) -> Iterator[Any]:
    yield from pod.status.initContainerStatuses or []
    yield from pod.status.containerStatuses or []


def follow(
    kubeconfig: Path,
    namespace: str,
    name: str,
    *,
    seconds: float,
    kind: Kind = PYTORCHJOB,
    on_line: Callable[[str, str], None] = lambda pod, line: None,  # noqa: ARG005
    unschedulable_seconds: float = UNSCHEDULABLE_SECONDS,
) -> Outcome:
    """Follow the job `name` until it ends; see `Follower`."""
    return Follower(kubeconfig, namespace, name, kind, on_line, unschedulable_seconds).until_end(seconds)
