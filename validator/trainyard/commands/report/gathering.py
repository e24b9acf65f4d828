"""Reads what a report needs from a cluster. Nothing is changed; Secrets and ConfigMaps are never read."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.commands.audit.cluster import RequestRefusedError, in_parallel
from trainyard.commands.status.reading import MOST_REPORTS, Query, Reader, main_container
from trainyard.commands.status.snapshot import Snapshot, Tree, name, namespace
from trainyard.commands.support.collecting import TAIL_LINES, Log
from trainyard.document.lookup import integer, items, mapping, text

_TAIL: Query = {"tailLines": TAIL_LINES}
# `app.kubernetes.io/component` of the pods of charts/training-preflight, and of `helm test` of a run.
PREFLIGHT = "preflight"
_MOST_PREFLIGHTS = 4


def logs(reader: Reader, snapshot: Snapshot) -> list[Log]:
    """Returns the logs of the main containers, with those before their last restart."""
    pods = [pod for pod in sorted(snapshot.pods, key=name) if text(pod, "status", "phase") != "Pending"]
    wanted = [(pod, previous) for pod in pods[:MOST_REPORTS] for previous in _times(pod)]
    found = in_parallel(lambda one: _log(reader, one[0], previous=one[1]), wanted)
    return [log for log in found if log.text]


def preflights(reader: Reader, snapshot: Snapshot) -> Iterator[str]:
    """Yields the logs of the first pods of preflight tests in the run's namespace, the newest first."""
    found = reader.pods_labelled(namespace(snapshot.job), f"app.kubernetes.io/component={PREFLIGHT}")
    first = [pod for pod in found if _index(pod) in ("", "0")]
    for pod in sorted(first, key=_created, reverse=True)[:_MOST_PREFLIGHTS]:
        yield _log(reader, pod, previous=False).text


def _times(pod: Tree) -> tuple[bool, ...]:
    main = main_container(pod)
    statuses = (one for one in items(pod, "status", "containerStatuses") if text(one, "name") == main)
    return (True, False) if any(integer(one, "restartCount") for one in statuses) else (False,)


def _log(reader: Reader, pod: Tree, *, previous: bool) -> Log:
    try:
        lines = "\n".join(reader.log(pod, _TAIL, previous=previous))
    except RequestRefusedError:
        # A container that waits has no log; what the user may not read is in the notes of the reader.
        lines = ""
    return Log(name(pod), main_container(pod), previous, lines)


def _index(pod: Tree) -> str:
    return text(mapping(pod, "metadata", "labels"), "batch.kubernetes.io/job-completion-index")


def _created(pod: Tree) -> str:
    return text(pod, "metadata", "creationTimestamp")
