"""The scheduler's message about a pod, shortened to its reasons.

Sources: kubernetes v1.34 pkg/scheduler/framework/types.go (FitError), and the plugins nodeaffinity, noderesources and
volumebinding, runtime/waiting_pods_map.go; volcano v1.14.1 pkg/scheduler/api/job_info.go; scheduler-plugins v0.35.4
pkg/coscheduling/core/core.go (CheckClusterResource, PreFilter).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.status.snapshot import Tree
from trainyard.document.lookup import items, text

_REASON = re.compile(r"(\d+) (?:(Insufficient ([\w./-]+))|(Too many pods)|(node\(s\) [^,]+?))(?=[,.]|$)")
_ABSENT_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" not found')
_NODES = "node(s) "
_ALONE = "cannot find enough sibling pods"
_GANG = re.compile(r"pod group|podgroup|gang|sibling|waiting on permit|minAvailable", re.IGNORECASE)
# A map of Go, whose quantities are printed as structures.
_GAP = re.compile(r"resource gap: map\[([^\]]*)\]")
_SHORT_OF = re.compile(r"([\w./-]+):[{\d]")
# A node of this kind is no candidate at all: the control plane, or nodes that are drained.
_TAINTED = ("had untolerated taint", "were unschedulable", "had taint")
_UNLABELLED = ("didn't match Pod's node affinity/selector", "didn't match node selector")


# The scheduler saw this pod before the others of its gang, and has not tried again.
ALONE = "its other pods are not created yet"


class Refusal(NamedTuple):
    """Why a pod has no node: `kind` is one of claim, unbound, selector, resources, gang, gated and other."""

    kind: str
    words: str


def refusal(pod: Tree) -> Refusal | None:
    """Returns why the pod has no node, None if it has one or the scheduler has not seen it yet."""
    for condition in items(pod, "status", "conditions"):
        if text(condition, "type") == "PodScheduled" and text(condition, "status") == "False":
            if text(condition, "reason") == "SchedulingGated":
                gates = [text(gate, "name") for gate in items(pod, "spec", "schedulingGates")]
                return Refusal("gated", ", ".join(gates) or "unknown")
            return _refusal(text(condition, "message"))
    return None


def _refusal(message: str) -> Refusal:
    if absent := _ABSENT_CLAIM.search(message):
        return Refusal("claim", absent[1])
    if "unbound immediate PersistentVolumeClaims" in message:
        return Refusal("unbound", "")
    # What preemption would do repeats the reasons.
    reasons = list(_REASON.finditer(message.partition("preemption:")[0]))
    short = dict.fromkeys(found[3] for found in reasons if found[3])
    others = [found[5] for found in reasons if found[5] and not found[5].removeprefix(_NODES).startswith(_TAINTED)]
    if short:
        return Refusal("resources", ", ".join(short))
    if _ALONE in message:
        return Refusal("gang", ALONE)
    if gap := _GAP.search(message):
        return Refusal("gang", f"not enough {', '.join(sorted(_SHORT_OF.findall(gap[1])))} for all of its pods")
    if _GANG.search(message):
        return Refusal("gang", " ".join(message.split()))
    if others and all(other.removeprefix(_NODES).startswith(_UNLABELLED) for other in others):
        return Refusal("selector", "")
    said = [other.removeprefix(_NODES) for other in others]
    return Refusal("other", ", ".join(dict.fromkeys(said)) or " ".join(message.split()))
