"""The place of a run in Kueue.

Source: kueue v0.19 apis/kueue/v1beta2/workload_types.go (conditions), apis/visibility/v1beta2.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.status.obstacles import brief
from trainyard.commands.status.snapshot import Snapshot, Tree, is_owned_by, name
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.facts.jobs.kueue import QUEUE


class Waiting(NamedTuple):
    """A run that Kueue has not admitted: its queue, place and length of the queue, and Kueue's reason."""

    queue: str
    place: tuple[int, int] | None
    reason: str

    def words(self) -> str:
        """Returns the state in words."""
        where = f"place {self.place[0]} of {self.place[1]}; " if self.place is not None else ""
        return f"queued in {self.queue}: {where}{self.reason}"


def waiting(snapshot: Snapshot) -> Waiting | None:
    """Returns where the run waits, None if Kueue does not manage it or has admitted it."""
    own = next((one for one in snapshot.workloads if is_owned_by(one, snapshot.job)), None)
    labelled = text(mapping(snapshot.job, "metadata", "labels"), QUEUE)
    if own is None:
        reason = "Kueue has created no Workload for it; is its kind in `integrations.frameworks` of Kueue?"
        return Waiting(labelled, None, reason) if labelled else None
    if _true(own, "Admitted") or _true(own, "Finished"):
        return None
    queue = text(own, "spec", "queueName") or labelled
    if mapping(own, "spec").get("active") is False:
        return Waiting(queue, None, "its Workload is inactive, set `spec.active` to true")
    if _true(own, "QuotaReserved"):
        return Waiting(queue, None, "quota is reserved, admission checks are not complete")
    return Waiting(queue, snapshot.place or _place(own, snapshot), _reason(own))


def _true(workload: Tree, kind: str) -> bool:
    return any(
        text(condition, "type") == kind and text(condition, "status") == "True"
        for condition in items(workload, "status", "conditions")
    )


def _reason(workload: Tree) -> str:
    for kind in ("QuotaReserved", "Evicted"):
        for condition in items(workload, "status", "conditions"):
            if text(condition, "type") == kind and text(condition, "message"):
                return brief(text(condition, "message"))
    return "Kueue has not given a reason yet"


def _place(own: Tree, snapshot: Snapshot) -> tuple[int, int]:
    """Returns place and number of those that wait in this LocalQueue, by priority and age as Kueue orders them."""
    queue = text(own, "spec", "queueName")
    rivals = [
        one
        for one in snapshot.workloads
        if text(one, "spec", "queueName") == queue
        and mapping(one, "spec").get("active") is not False
        and not (_true(one, "QuotaReserved") or _true(one, "Finished"))
    ]
    rivals.sort(key=lambda one: (-(integer(one, "spec", "priority") or 0), text(one, "metadata", "creationTimestamp")))
    return [name(one) for one in rivals].index(name(own)) + 1, len(rivals)
