"""The number of processes is written in two places, and the admission webhook refuses a job that has both.

`elasticPolicy.nProcPerNode` is the old place and takes a number only. Since 1.7 the number stands in
`spec.nprocPerNode`, as a string that may also be `auto`, `gpu` or `cpu`; the old field gives a warning and together
with the new one an error, even when both say the same. The usual way there is to copy `nprocPerNode` from a current
example into an elastic job of older age.

Keep `spec.nprocPerNode` and remove the field from elasticPolicy. Where they differ, the fix is yours: only you know
which number was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.model import Run
from validator.rule import Problem, Remove, rule


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
    """The number of processes in elasticPolicy beside the one in spec."""
    if run.kind != "PyTorchJob" or run.elastic is None:
        return
    old, new = run.elastic.get("nProcPerNode"), run.spec.get("nprocPerNode")
    if old is None or new is None:
        return
    at = run.at.child("spec", "elasticPolicy", "nProcPerNode")
    yield Problem(
        at,
        f"elasticPolicy.nProcPerNode ({old}) is refused beside spec.nprocPerNode ({new})",
        "keep spec.nprocPerNode alone",
        (Remove(at),) if str(old) == str(new) else (),
        ((run.at.child("spec", "nprocPerNode"), "the field that counts"),),
    )
