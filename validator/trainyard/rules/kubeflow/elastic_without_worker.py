"""An elasticPolicy scales the Worker role, so the admission webhook refuses a job that has none.

The bounds of an elastic PyTorchJob count Workers, the rendezvous runs on `<job>-worker-0`, and the autoscaler changes
`Worker.replicas`. A job of a Master alone has nothing of these: `kubectl apply` answers that the Worker must be
configured. It happens when a single-pod job is made elastic, or when Workers are moved into the Master.

Write all pods of an elastic job as `Worker` and leave `Master` out: rank 0 is then one of the Workers, chosen by the
rendezvous. A job that shall not change its size needs no elasticPolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Run
from validator.rule import Problem, rule


@rule(
    code="KF004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/training-operator v1.9.3 pkg/webhooks/pytorch/pytorchjob_webhook.go: validateSpec",),
    needs=("elasticPolicy",),
)
def elastic_without_worker(run: Run) -> Iterator[Problem]:
    """An elastic PyTorchJob without the role that is elastic."""
    roles = mapping(run.spec, "pytorchReplicaSpecs")
    if run.kind != "PyTorchJob" or run.elastic is None or any(name.lower() == "worker" for name in roles):
        return
    yield Problem(
        run.at.child("spec", "elasticPolicy").key(),
        "the job has an elasticPolicy and no Worker, which is the role that it scales",
        "make the pods a `Worker` role, or remove elasticPolicy",
    )
