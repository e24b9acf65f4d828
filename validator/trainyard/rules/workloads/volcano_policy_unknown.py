"""A policy of a Volcano Job has an event or an action that Volcano does not know, so the job is rejected.

`policies` define what happens when pods fail, are evicted, or complete. Each has an `event`, a list of `events` or an
`exitCode`, and an `action`. The webhook compares the names exactly: `PodFail`, `podFailed` and `Restart` are no names.
It also rejects a policy with both an event and an exit code, an exit code of 0, an event in two policies, and other
events beside `*`. Volcano's internal events and actions, such as `OutOfSync` and `SyncJob`, are not for users.

Events are `*`, `PodFailed`, `PodEvicted`, `PodPending`, `Unknown`, `TaskCompleted`, `TaskFailed` and `JobUpdated`.
Actions are `AbortJob`, `RestartJob`, `RestartTask`, `RestartPod`, `RestartPartition`, `TerminateJob`, `CompleteJob`
and `ResumeJob`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Edit, Place, SetValue
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import VOLCANO, VOLCANO_ACTIONS, VOLCANO_EVENTS, group_of
from trainyard.model.run import Resource


@rule(
    code="WL002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/util.go: validatePolicies, policyEventMap",
        "volcano-sh/apis pkg/apis/bus/v1alpha1: events.go, actions.go",
    ),
    fix="safe",
    needs=("batch.volcano.sh",),
)
def volcano_policy_unknown(resource: Resource) -> Iterator[Problem]:
    """Report policies that Volcano rejects."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    yield from _policies(items(spec, "policies"), at.child("policies"))
    for index, task in enumerate(items(spec, "tasks")):
        yield from _policies(items(task, "policies"), at.child("tasks", index, "policies"))


def _policies(policies: list[Any], at: Place) -> Iterator[Problem]:
    known: set[str] = set()
    for index, policy in enumerate(policies):
        place = at.child(index)
        code = mapping(policy).get("exitCode")
        events = list(_events(mapping(policy), place))
        if events and code is not None:
            yield Problem(place.child("exitCode"), "the policy has an event and an exit code", "write one of them")
        elif not events and code is None:
            yield Problem(place, "the policy has neither an event nor an exit code", "write one of them")
        elif code == 0:
            yield Problem(place.child("exitCode"), "0 is not the exit code of a failure", "write another exit code")
        for event, where in events:
            yield from _unknown(event, VOLCANO_EVENTS, "event", where)
            if event in known:
                yield Problem(where, f"another policy has the event {event} too", "merge the policies")
            known.add(event)
        action = mapping(policy).get("action")
        if events and isinstance(action, str):
            yield from _unknown(action, VOLCANO_ACTIONS, "action", place.child("action"))
    if "*" in known and len(known) > 1:
        yield Problem(at.key(), "a policy for `*` allows no other events", "remove the other events, or `*`")


def _events(policy: dict[str, Any], at: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(policy.get("event"), str):
        yield policy["event"], at.child("event")
    for index, event in enumerate(items(policy, "events")):
        if isinstance(event, str) and event != policy.get("event"):
            yield event, at.child("events", index)


def _unknown(name: str, names: tuple[str, ...], what: str, at: Place) -> Iterator[Problem]:
    if not name or name in names:
        return
    meant = next((one for one in names if one.lower() == name.lower()), None)
    edits: tuple[Edit, ...] = (SetValue(at, meant),) if meant is not None else ()
    help_ = f"write {meant}" if meant is not None else f"write one of {', '.join(names)}"
    yield Problem(at, f"Volcano has no {what} `{name}` and rejects the job", help_, edits)
