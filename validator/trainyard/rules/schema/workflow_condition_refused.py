"""Argo cannot read the condition of a resource template, so the step fails although the object that it made is fine.

`successCondition` and `failureCondition` are label selectors of Kubernetes, whose keys are paths in the object:
`status.succeeded > 0`, `status.phase == Succeeded`, `status.replicaStatuses.Worker.succeeded == 2`, with a comma for
"and". They are no JSONPath, and no queries: brackets, quotation marks, `&&` and `#(...)` give "failed to parse". An
item of a list has its number as a key: `status.conditions.0.type == Complete`.

Name a field with a plain value, such as the counts of a job's replicas. The conditions of jobs are a list whose order
changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.argo import WORKFLOWS, spec_of
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_KEY = r"!?\s*(?:[A-Za-z0-9][\w./-]*/)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
# Each blank can be matched by one part of the expression alone: others take exponential time.
_VALUE = r"(?:[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?\s*)?"
_SET = rf"\(\s*{_VALUE}(?:,\s*{_VALUE})*\)\s*"
_ONE = re.compile(rf"\s*{_KEY}\s*(?:(?:==|=|!=)\s*{_VALUE}|[<>]\s*-?\d+\s*|\b(?:in|notin)\s*{_SET})?(?:,|\Z)")
_CONDITIONS = ("successCondition", "failureCondition")


@rule(
    code="SM034",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/argoproj/argo-workflows issue 7143",
        "argoproj/argo-workflows v3.7.6 workflow/executor/resource.go: WaitResource, labels.Parse",
        "kubernetes v1.34.4 staging/src/k8s.io/apimachinery/pkg/labels/selector.go: Parse",
    ),
    needs=("successCondition", "failureCondition"),
)
def workflow_condition_refused(resource: Resource) -> Iterator[Problem]:
    """Report conditions that are no selectors."""
    spec = spec_of(resource) if resource.kind in WORKFLOWS else None
    for template, at in spec.templates.values() if spec is not None else ():
        for field in _CONDITIONS:
            written = text(mapping(template, "resource"), field)
            if written and "{{" not in written and not _is_selector(written):
                yield Problem(
                    at.child("resource", field),
                    f"{field} `{written}` is not a label selector: Argo fails to parse it, and the step fails",
                    "write a path and a value, as `status.replicaStatuses.Worker.succeeded == 1`",
                )


def _is_selector(written: str) -> bool:
    at = 0
    while at < len(written):
        found = _ONE.match(written, at)
        if found is None or found.end() == at:
            return False
        at = found.end()
    return True
