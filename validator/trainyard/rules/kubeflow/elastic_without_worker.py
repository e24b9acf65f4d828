"""An elasticPolicy scales the Worker role, so the admission webhook rejects a job without one.

The bounds of an elastic PyTorchJob count Workers, the rendezvous runs on `<job>-worker-0`, and the autoscaler changes
`Worker.replicas`. A job with only a Master has none of these: `kubectl apply` answers that the Worker must be
configured. The usual cause is a single-pod job that was made elastic, or Workers that were moved into the Master.

Write all pods of an elastic job as `Worker` and remove `Master`: rank 0 is then one of the Workers, chosen by the
rendezvous. A job of fixed size needs no elasticPolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/training-operator v1.9.3 pkg/webhooks/pytorch/pytorchjob_webhook.go: validateSpec",),
    needs=("elasticPolicy",),
)
def elastic_without_worker(run: Run) -> Iterator[Problem]:
    """Report an elastic PyTorchJob without Workers."""
    roles = mapping(run.spec, "pytorchReplicaSpecs")
    if run.kind != "PyTorchJob" or run.elastic is None or any(name.lower() == "worker" for name in roles):
        return
    yield Problem(
        run.at.child("spec", "elasticPolicy").key(),
        "elasticPolicy scales the Worker role, but the job has no Worker",
        "make the pods a `Worker` role, or remove elasticPolicy",
    )
