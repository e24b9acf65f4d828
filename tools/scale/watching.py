"""The moments at which pods and Services appear and change, as a client of the API server sees them."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.response import addinfourl as Answer  # noqa: N812

from tests.harness.cluster.errors import ClusterError
from tools.scale.control_plane import ControlPlane

# The columns that `kubectl get` shows are a hundredth of an object.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
POLL_SECONDS = 0.1
REPORT_SECONDS = 10
SILENT_SECONDS = 10


@dataclass
class Watch:
    """A watch of a resource of a namespace: the moment at which each object first fulfilled a condition."""

    plane: ControlPlane
    namespace: str
    resource: str
    conditions: dict[str, Callable[[dict[str, str]], bool]]
    moments: dict[str, dict[str, float]] = field(default_factory=dict)
    _is_closed: bool = False

    def __post_init__(self) -> None:
        """Start to watch, in a thread that ends with the first event after `close`."""
        self.moments = {name: {} for name in self.conditions}
        threading.Thread(target=self._read, daemon=True).start()

    def close(self) -> None:
        """End the watch."""
        self._is_closed = True

    def _read(self) -> None:
        path = f"/api/v1/namespaces/{self.namespace}/{self.resource}?watch=true&labelSelector=%21filler"
        while not self._is_closed:
            # The API server drops a client that falls behind. A new watch begins with all objects.
            with (
                contextlib.suppress(OSError),
                self.plane.open("kube-apiserver", path, accept=TABLE, seconds=SILENT_SECONDS) as answer,
            ):
                self._read_events(answer)

    def _read_events(self, answer: Answer) -> None:
        columns: list[str] = []
        for line in answer:
            now = time.monotonic()
            if self._is_closed:
                return
            table = json.loads(line)["object"]
            columns = [column["name"] for column in table.get("columnDefinitions") or []] or columns
            for row in table.get("rows", []):
                name = row["object"]["metadata"]["name"]
                cells = dict(zip(columns, map(str, row["cells"]), strict=True))
                for condition, holds in self.conditions.items():
                    if name not in self.moments[condition] and holds(cells):
                        self.moments[condition][name] = now

    def count(self, condition: str) -> int:
        """Return the number of objects that have fulfilled a condition."""
        return len(self.moments[condition])

    def last(self, condition: str) -> float:
        """Return the moment at which the last object fulfilled a condition, zero without any."""
        return max(self.moments[condition].values(), default=0.0)


def pods(plane: ControlPlane, namespace: str) -> Watch:
    """Watch the pods of a namespace."""
    conditions: dict[str, Callable[[dict[str, str]], bool]] = {
        "created": lambda _row: True,
        "scheduled": lambda row: row["Node"] != "<none>",
        "running": lambda row: row["Status"] == "Running",
    }
    return Watch(plane, namespace, "pods", conditions)


def services(plane: ControlPlane, namespace: str) -> Watch:
    """Watch the Services of a namespace."""
    return Watch(plane, namespace, "services", {"created": lambda _row: True})


def wait(
    plane: ControlPlane, wanted: list[tuple[Watch, str, int]], *, seconds: float, report: Callable[[str], None]
) -> None:
    """Wait until each watch has seen so many objects fulfil a condition, and report the counts meanwhile.

    Raises:
        ClusterError: The time is over, or a program has ended.
    """
    started = reported = time.monotonic()
    while any(watch.count(condition) < count for watch, condition, count in wanted):
        plane.processes.check()
        now = time.monotonic()
        counts = ", ".join(f"{watch.count(name)} of {count} {watch.resource} {name}" for watch, name, count in wanted)
        if now - started > seconds:
            raise ClusterError(
                f"timed out after {seconds:.0f} s: {counts}; the API server lists {_listed(plane, wanted)}"
            )
        if now - reported > REPORT_SECONDS:
            report(f"{now - started:.0f} s: {counts}")
            reported = now
        time.sleep(POLL_SECONDS)


def _listed(plane: ControlPlane, wanted: list[tuple[Watch, str, int]]) -> str:
    """Return the states of the objects that the API server has, which tells a slow cluster from a broken watch."""
    named = {(watch.resource, watch.namespace) for watch, _, _ in wanted}
    words = [
        plane.kubectl("get", resource, f"--namespace={namespace}", "--no-headers", "--output=wide").splitlines()
        for resource, namespace in sorted(named)
    ]
    states = Counter(line.split()[2] for lines in words for line in lines)
    return ", ".join(f"{count} {state}" for state, count in states.items()) or "nothing"
