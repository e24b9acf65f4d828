"""A node as the controller sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nodehealth import condition
from nodehealth.clock import parsed, text
from nodehealth.keys import (
    HISTORY,
    IGNORED,
    OUT_OF_SERVICE,
    OUTAGE,
    POWERED_OFF,
    QUARANTINED,
    RECORD,
    REPAIRED,
    SHUT_DOWN,
)

TAINT = {"key": QUARANTINED, "value": "true", "effect": "NoSchedule"}
OFF_TAINT = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}


@dataclass(frozen=True)
class Record:
    """Why and since when a node is in quarantine, and when others undid it and the controller restored it."""

    since: datetime
    reason: str = ""
    message: str = ""
    by: str = ""
    restored: tuple[datetime, ...] = ()
    contested: bool = False

    def text(self) -> str:
        """Returns the record as an annotation."""
        body = {
            "since": text(self.since),
            "reason": self.reason,
            "message": self.message,
            "by": self.by,
            **({"restored": [text(moment) for moment in self.restored]} if self.restored else {}),
            **({"contested": True} if self.contested else {}),
        }
        return json.dumps(body)


@dataclass(frozen=True)
class Kubelet:
    """The condition `Ready` of a node: its status, since when, and the last report of the kubelet."""

    status: str = ""
    since: datetime | None = None
    beat: datetime | None = None

    @property
    def silent(self) -> bool:
        """Returns true if the kubelet does not report. One that reports a node as not ready still runs its pods."""
        return self.status == condition.UNKNOWN


@dataclass(frozen=True)
class Node:
    """The facts about a node that count for a decision."""

    name: str
    version: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()
    status: str = condition.UNKNOWN
    reason: str = ""
    message: str = "no agent has reported"
    since: datetime | None = None
    record: Record | None = None
    history: tuple[datetime, ...] = ()
    repaired: datetime | None = None
    ignored: bool = False
    kubelet: Kubelet = Kubelet()
    # The last report of the agent, which reaches the API server without the kubelet.
    beat: datetime | None = None
    powered_off: datetime | None = None
    # True if the controller has taken the node out of service.
    outage: bool = False

    @property
    def marked(self) -> bool:
        """Returns true if the node has both the label and the taint of a quarantine."""
        tainted = any(taint.get("key") == QUARANTINED and taint.get("effect") == "NoSchedule" for taint in self.taints)
        return tainted and QUARANTINED in self.labels

    @property
    def out_of_service(self) -> bool:
        """Returns true if the node has the taint `out-of-service`, whoever has set it."""
        return self._has(OUT_OF_SERVICE)

    @property
    def shut_down(self) -> bool:
        """Returns true if the cloud states that the machine is shut down."""
        return self._has(SHUT_DOWN)

    def _has(self, key: str) -> bool:
        return any(taint.get("key") == key for taint in self.taints)


def node(tree: Mapping[str, Any], moment: datetime, stale_seconds: float) -> Node:
    """Returns a node of its object. A condition without a recent heartbeat is unknown."""
    metadata = tree.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    found = condition.of(tree)
    status, reason, message = condition.UNKNOWN, "", "no agent has reported"
    beat = parsed((found or {}).get("lastHeartbeatTime"))
    if found is not None:
        status, reason, message = (str(found.get(key) or "") for key in ("status", "reason", "message"))
        if beat is None or moment - beat > timedelta(seconds=stale_seconds):
            status, message = condition.UNKNOWN, f"the agent has not reported since {found.get('lastHeartbeatTime')}"
    return Node(
        name=str(metadata.get("name")),
        version=str(metadata.get("resourceVersion")),
        labels=metadata.get("labels") or {},
        taints=tuple((tree.get("spec") or {}).get("taints") or ()),
        status=status,
        reason=reason,
        message=message,
        since=parsed((found or {}).get("lastTransitionTime")),
        record=_record(annotations.get(RECORD)),
        history=_times(_json(annotations.get(HISTORY))),
        repaired=parsed(annotations.get(REPAIRED)),
        ignored=annotations.get(IGNORED) == "true",
        kubelet=_kubelet(condition.of(tree, "Ready") or {}),
        beat=beat,
        powered_off=parsed(annotations.get(POWERED_OFF)),
        outage=OUTAGE in annotations,
    )


def _kubelet(ready: Mapping[str, Any]) -> Kubelet:
    since, beat = parsed(ready.get("lastTransitionTime")), parsed(ready.get("lastHeartbeatTime"))
    return Kubelet(str(ready.get("status") or ""), since, beat)


def _record(value: object) -> Record | None:
    if value is None:
        return None
    found = _json(value)
    body = found if isinstance(found, dict) else {}
    since = parsed(body.get("since"))
    if since is None:
        # A damaged record still says that the quarantine is the controller's own.
        since = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    words = {key: str(body.get(key) or "") for key in ("reason", "message", "by")}
    return Record(since, **words, restored=_times(body.get("restored")), contested=body.get("contested") is True)


def _json(value: object) -> Any:
    try:
        return json.loads(str(value))
    except ValueError:
        return None


def _times(found: object) -> tuple[datetime, ...]:
    values = found if isinstance(found, list) else []
    return tuple(moment for value in values if (moment := parsed(value)) is not None)
