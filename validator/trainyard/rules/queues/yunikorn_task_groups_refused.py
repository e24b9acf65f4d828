"""YuniKorn cannot read the task groups of the pod, so its job is not scheduled as a gang.

`yunikorn.apache.org/task-groups` is text of JSON: a list with a `name`, a `minMember` above 0 and a `minResource` for
each group. If YuniKorn cannot read it, it writes an error to its log and schedules the pods one by one. The pod is of
the group that `yunikorn.apache.org/task-group-name` names, which must be one of the list; otherwise it takes no place
of the gang.

Correct the JSON. Quantities such as the number of GPUs are texts in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Role

_GROUPS = "yunikorn.apache.org/task-groups"
_NAME = "yunikorn.apache.org/task-group-name"


@rule(
    code="QU040",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/apache/yunikorn-site pull 422",
        "apache/yunikorn-k8shim v1.9.0 pkg/cache/utils.go: GetTaskGroupsFromAnnotation",
        "yunikorn.apache.org/docs/user_guide/gang_scheduling: task groups",
    ),
    needs=("yunikorn.apache.org/task-group",),
)
def yunikorn_task_groups_refused(role: Role) -> Iterator[Problem]:
    """Report annotations that YuniKorn refuses, and names of groups that are not in them."""
    written = text(role.pod.annotations, _GROUPS)
    if not written or "{{" in written or "$" in written:
        return
    at = role.pod.template_at.child("metadata", "annotations", _GROUPS)
    try:
        groups = json.loads(written)
    except ValueError as fault:
        reason = str(fault).partition(":")[0].lower()
        where = f" (line {fault.lineno})" if isinstance(fault, json.JSONDecodeError) else ""
        yield Problem(
            at.key(), f"this is not JSON: {reason}{where}; YuniKorn ignores the gang", "correct the text of task-groups"
        )
        return
    if not isinstance(groups, list):
        yield Problem(at.key(), "task-groups is not a list: YuniKorn ignores the gang", "write it in brackets")
        return
    for group in groups:
        if (wrong := _fault(group)) is not None:
            yield Problem(at.key(), f"{wrong}: YuniKorn ignores the gang", "correct the text of task-groups")
            return
    yield from _name(role, [text(group, "name") for group in groups])


def _fault(group: Any) -> str | None:
    """Returns why YuniKorn refuses a group."""
    name, least = text(group, "name"), mapping(group).get("minMember")
    if not name:
        return "a task group has no name"
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        return f"task group {name} needs a number above 0 as `minMember`"
    return None if mapping(group, "minResource") else f"task group {name} has no `minResource`"


def _name(role: Role, names: list[str]) -> Iterator[Problem]:
    own = text(role.pod.annotations, _NAME)
    if own and names and own not in names:
        near = closest_match(own, names, 0.6)
        yield Problem(
            role.pod.template_at.child("metadata", "annotations", _NAME),
            f"task-groups has no task group `{own}`, only {', '.join(f'`{name}`' for name in names)}",
            f"did you mean `{near}`?" if near else f"write `{names[0]}`",
        )
