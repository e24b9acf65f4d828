"""JobSet rejects the rules of this failure policy: a name or a reason is not valid.

The name of a rule begins with a letter and has only letters, digits, `_`, `,` and `:`, as a reason of a condition does.
A hyphen is not allowed. No two rules have the same name. `onJobFailureReasons` takes the reasons with which a Job
fails: BackoffLimitExceeded, DeadlineExceeded, FailedIndexes, MaxFailedIndexesExceeded and PodFailurePolicy.

Write names in camel case. A rule without a name gets one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?\Z")
LONGEST = 128
REASONS = (
    *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded"),
    "PodFailurePolicy",
)


@rule(
    code="KF038",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/vllm-project/ci-infra/pull/614: the webhook refuses a hyphen",
        "kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: validateFailurePolicy, ruleNameFmt",
    ),
    needs=("failurePolicy",),
)
def jobset_failure_rule_invalid(resource: Resource) -> Iterator[Problem]:
    """Report rules that the webhook rejects."""
    if resource.kind != "JobSet":
        return
    at = resource.at.child("spec", "failurePolicy", "rules")
    known: set[str] = set()
    for index, one in enumerate(items(resource.tree, "spec", "failurePolicy", "rules")):
        name = text(one, "name")
        if name and "$" not in name and (not NAME.match(name) or len(name) > LONGEST):
            yield Problem(
                at.child(index, "name"),
                f"`{name}` is not a valid name of a rule: JobSet rejects the object",
                "use letters, digits and _, without hyphens, and begin with a letter",
            )
        elif name in known:
            yield Problem(at.child(index, "name"), f"two rules are named `{name}`: JobSet rejects the object")
        if name:
            known.add(name)
        for number, reason in enumerate(items(one, "onJobFailureReasons")):
            if isinstance(reason, str) and reason not in REASONS and "$" not in reason:
                yield Problem(
                    at.child(index, "onJobFailureReasons", number),
                    f"a Job does not fail with the reason `{reason}`: JobSet rejects the object",
                    f"write one of {', '.join(REASONS)}",
                )
