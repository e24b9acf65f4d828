"""The reason for which a gang of Volcano waits, from events of its PodGroup: Volcano admits the group before its pods.

Sources: volcano v1.14.1 pkg/scheduler/plugins, overcommit/overcommit.go, proportion/proportion.go,
capacity/capacity.go, util/util.go (FormatResourceNames); training-operator v1.9.4
pkg/controller.v1/control/podgroup_control.go (DelayPodCreationDueToPodGroup).
"""

from __future__ import annotations

import re

from trainyard.commands.status.snapshot import Snapshot, name, when
from trainyard.document.lookup import text
from trainyard.facts.jobs.kubeflow import POD_GROUP_VERSIONS

_SHORT = re.compile(r"(resource in cluster is overused|queue resource quota insufficient)(?:: (.*))?")
_RESOURCE = re.compile(r"(?:overused|insufficient) ([\w./-]+)")
_NOT_ADMITTED = ("", "Pending")


def waits_for(snapshot: Snapshot) -> str | None:
    """Returns why Volcano has not admitted the run's PodGroup, None if it has, or if there is none."""
    groups = [group for group in snapshot.groups if text(group, "apiVersion") == POD_GROUP_VERSIONS["volcano"]]
    pending = [name(group) for group in groups if text(group, "status", "phase") in _NOT_ADMITTED]
    # The user may not be allowed to read the groups.
    if groups and not pending:
        return None
    for event in sorted(snapshot.events, key=when, reverse=True):
        short = _SHORT.search(text(event, "message"))
        if short and text(event, "involvedObject", "kind") == "PodGroup":
            resources = ", ".join(_RESOURCE.findall(short[2] or "")) or "resources"
            where = " in its queue" if short[1].startswith("queue") else ""
            return f"not enough {resources}{where} for all of its pods"
    return f"Volcano has not admitted its PodGroup {pending[0]}" if pending else None
