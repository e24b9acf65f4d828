"""A rule of the failure policy never applies: an earlier one matches all failures that it is for.

JobSet goes through `failurePolicy.rules` in their order and takes the action of the first one that matches the failed
Job. A rule without `onJobFailureReasons` matches every reason, and one without `targetReplicatedJobs` every Job. If it
stands first, a more specific rule behind it has no effect: a JobSet that should fail at once for a bug in the script is
restarted to its limit.

Put the specific rule first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_REASONS, _TARGETS, _PATTERNS = "onJobFailureReasons", "targetReplicatedJobs", "onJobFailureMessagePatterns"


@rule(
    code="KF061",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubernetes-sigs/jobset pull 601",
        "kubernetes-sigs/jobset v0.11.0 pkg/controllers/failure_policy.go: findFirstFailedPolicyRuleAndJob",
    ),
    needs=("failurePolicy",),
)
def jobset_failure_rule_unused(resource: Resource) -> Iterator[Problem]:
    """Report rules behind one that is as general."""
    if resource.kind != "JobSet":
        return
    at = resource.at.child("spec", "failurePolicy", "rules")
    rules = items(resource.tree, "spec", "failurePolicy", "rules")
    for index, one in enumerate(rules):
        before = next((number for number in range(index) if _covers(rules[number], one)), None)
        if before is None or one == rules[before]:
            continue
        yield Problem(
            at.child(index),
            f"{_title(one, index)} never applies: {_title(rules[before], before)} before it matches the same failures",
            "put the more specific rule first",
            related=((at.child(before), "the rule that matches first"),),
        )


def _covers(one: Any, other: Any) -> bool:
    """True if a rule matches all failures of the other one."""
    if items(one, _PATTERNS):
        return False
    fields = ((items(one, field), items(other, field)) for field in (_REASONS, _TARGETS))
    return all(not many or _within(few, many) for many, few in fields)


def _within(few: list[Any], many: list[Any]) -> bool:
    return bool(few) and all(one in many for one in few)


def _title(one: Any, index: int) -> str:
    name = text(one, "name")
    return f"rule `{name}`" if name else f"rule {index + 1}"
