"""The number of processes is set in two fields, and the admission webhook rejects a job with both.

`elasticPolicy.nProcPerNode` is the old field and takes a number only. Since 1.7 the field is `spec.nprocPerNode`, a
string that may also be `auto`, `gpu` or `cpu`. The old field alone gives a warning; together with the new one it is an
error, even when both have the same value. The usual cause is `nprocPerNode` copied from a current example into an
older elastic job.

Keep `spec.nprocPerNode` and remove the field from elasticPolicy. If the values differ, there is no automatic fix: only
you know which number is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Remove
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/training-operator v1.9.3 pkg/webhooks/pytorch/pytorchjob_webhook.go: validateSpec",),
    fix="safe",
    needs=("elasticPolicy",),
)
def elastic_nproc_conflict(run: Run) -> Iterator[Problem]:
    """Report a number of processes in elasticPolicy and in spec."""
    if run.kind != "PyTorchJob" or run.elastic is None:
        return
    old, new = run.elastic.get("nProcPerNode"), run.spec.get("nprocPerNode")
    if old is None or new is None:
        return
    at = run.at.child("spec", "elasticPolicy", "nProcPerNode")
    yield Problem(
        at,
        f"the webhook rejects elasticPolicy.nProcPerNode ({old}) together with spec.nprocPerNode ({new})",
        "keep only spec.nprocPerNode",
        (Remove(at),) if str(old) == str(new) else (),
        ((run.at.child("spec", "nprocPerNode"), "keep this field"),),
    )
