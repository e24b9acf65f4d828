"""Whether a run has ended or is suspended, as its controller reports it."""

from __future__ import annotations

from trainyard.commands.status.snapshot import Tree
from trainyard.document.lookup import items, mapping, text

_SUCCEEDED = ("Succeeded", "Complete", "Completed")
# Volcano and Ray report a phase in the place of conditions.
_PHASES = {
    "Completed": "succeeded",
    "SUCCEEDED": "succeeded",
    **dict.fromkeys(("Failed", "Aborted", "Terminated", "FAILED", "STOPPED"), "failed"),
}


def ending(job: Tree) -> tuple[str, str] | None:
    """Returns `succeeded` or `failed` with the controller's message, None if the run has not ended."""
    for condition in items(job, "status", "conditions"):
        if text(condition, "status") == "True" and text(condition, "type") in (*_SUCCEEDED, "Failed"):
            state = "failed" if text(condition, "type") == "Failed" else "succeeded"
            return state, text(condition, "message") or text(condition, "reason")
    for words in (text(job, "status", "state", "phase"), text(job, "status", "jobStatus")):
        if words in _PHASES:
            return _PHASES[words], text(job, "status", "state", "message") or text(job, "status", "message")
    return None


def is_suspended(job: Tree) -> bool:
    """Returns true if the run shall have no pods for now."""
    spec = mapping(job, "spec")
    return spec.get("suspend") is True or mapping(spec, "runPolicy").get("suspend") is True
