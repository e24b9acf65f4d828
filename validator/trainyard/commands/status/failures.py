"""The pods of a run that have failed, earliest first, from their statuses or from events if the pods are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.commands.status.replicas import Replica
from trainyard.commands.status.snapshot import Snapshot, when
from trainyard.document.lookup import integer, items, mapping, text

# What the training operator writes about its pods.
_EXITED = re.compile(r"Pod: [\w.-]+?\.([\w-]+) exited with code (\d+)")
_ENDED = re.compile(r"Error pod ([\w.-]+) container [\w.-]+ exitCode: (\d+) terminated message: (.*)", re.DOTALL)


class Failure(NamedTuple):
    """A pod that failed: when, with which exit code or reason, and the last words of its program.

    `previous` is true if the container has started again since, so that the log is that of its predecessor.
    """

    pod: str
    rank: str
    time: str
    code: int | None
    reason: str
    message: str
    container: str = ""
    previous: bool = False

    def words(self) -> str:
        """Returns the failed pod and how it ended."""
        who = f"rank {self.rank} ({self.pod})" if self.rank else self.pod
        how = [] if self.reason in ("", "Error") else [self.reason]
        how += [] if self.code is None else [f"exit code {self.code}"]
        return f"{who} failed first{', ' if how else ''}{', '.join(how)}"


def failures(snapshot: Snapshot, replicas: Sequence[Replica]) -> list[Failure]:
    """Returns the failures, earliest first. The times of Kubernetes are whole seconds."""
    found = [failure for replica in replicas for failure in _of_pod(replica)]
    seen = {replica.name for replica in replicas}
    found += [failure for failure in _of_events(snapshot) if failure.pod not in seen]
    return sorted(found, key=lambda failure: failure.time)


def _of_pod(replica: Replica) -> Iterator[Failure]:
    pod = replica.pod
    ended = False
    for field in ("containerStatuses", "initContainerStatuses"):
        for status in items(pod, "status", field):
            for state in ("state", "lastState"):
                end = mapping(status, state, "terminated")
                if end and integer(end, "exitCode") != 0:
                    ended = True
                    yield Failure(
                        replica.name,
                        replica.rank,
                        text(end, "finishedAt"),
                        integer(end, "exitCode"),
                        text(end, "reason"),
                        text(end, "message"),
                        text(status, "name"),
                        previous=state == "lastState",
                    )
                    break
    if text(pod, "status", "phase") == "Failed" and not ended:
        # An evicted pod has no statuses of containers.
        time = text(pod, "status", "startTime")
        yield Failure(
            replica.name, replica.rank, time, None, text(pod, "status", "reason"), text(pod, "status", "message")
        )


def _of_events(snapshot: Snapshot) -> Iterator[Failure]:
    """Yields one failure for each pod that events name."""
    messages: dict[str, str] = {}
    codes: dict[str, tuple[str, int]] = {}
    for event in sorted(snapshot.events, key=when):
        words = text(event, "message")
        found = _EXITED.search(words) or _ENDED.search(words)
        if found is not None and int(found[2]) != 0:
            codes.setdefault(found[1], (when(event), int(found[2])))
            if found.re is _ENDED:
                messages[found[1]] = found[3]
    for pod, (time, code) in codes.items():
        yield Failure(pod, "", time, code, "", messages.get(pod, ""))
