"""The condition in the status of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from nodehealth.clock import text
from nodehealth.fault import Fault
from nodehealth.keys import CONDITION

HEALTHY, UNHEALTHY, UNKNOWN = "True", "False", "Unknown"
LONGEST = 1024


def state(faults: Sequence[Fault], unknown: Mapping[str, str]) -> tuple[str, str, str]:
    """Returns status, reason and message of the condition. A fault is certain whatever else is unknown."""
    if faults:
        message = "; ".join(dict.fromkeys(fault.message for fault in faults))
        return UNHEALTHY, faults[0].reason, _cut(message)
    if unknown:
        return UNKNOWN, "CannotCheck", _cut("; ".join(f"{name}: {why}" for name, why in unknown.items()))
    return HEALTHY, "NoFaults", "all checks pass"


def condition(now: tuple[str, str, str], before: Mapping[str, Any] | None, moment: datetime) -> dict[str, str]:
    """Returns the condition; its transition time is kept while its status stays the same."""
    status, reason, message = now
    kept = (before or {}).get("lastTransitionTime") if (before or {}).get("status") == status else None
    return {
        "type": CONDITION,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": text(moment),
        "lastTransitionTime": str(kept or text(moment)),
    }


def of(node: Mapping[str, Any], kind: str = CONDITION) -> dict[str, Any] | None:
    """Returns a condition that a node has, or None."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((dict(one) for one in conditions if one.get("type") == kind), None)


def _cut(message: str) -> str:
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 3]}..."
