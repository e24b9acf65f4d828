"""The Workers lie outside the elastic range, or the range is one number, so the job cannot start or change its size.

torchrun starts when at least `minReplicas` pods have met and takes `maxReplicas` at most. With fewer Workers than the
minimum every pod waits for the rendezvous and gives up after ten minutes; with more than the maximum the surplus pods
hold their GPUs and are never admitted. A bound that is left out becomes the other one: `maxReplicas: 8` alone means
8:8, and the loss of a single pod ends the training as if there were no elasticPolicy.

Neither bound is a way to ask for a rendezvous without elasticity and is left alone.

Write both bounds, with `Worker.replicas` between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import whole
from validator.model import Run
from validator.rule import Problem, rule


@rule(
    code="KF007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/pytorch_defaults.go: setElasticPolicy; "
        "pkg/controller.v1/pytorch/elastic.go: generateEnvNnodes",
        "docs.pytorch.org elastic/quickstart: an elastic job runs on MIN_SIZE to MAX_SIZE nodes",
    ),
    needs=("elasticPolicy",),
)
def elastic_bounds(run: Run) -> Iterator[Problem]:
    """Bounds that do not hold each other or the Workers."""
    worker = run.role("Worker")
    if run.kind != "PyTorchJob" or run.elastic is None or worker is None:
        return
    at = run.at.child("spec", "elasticPolicy")
    low, high = whole(run.elastic, "minReplicas"), whole(run.elastic, "maxReplicas")
    if low is None and high is None:
        return
    if low is None or high is None:
        # A bound of another type than a number is the schema's to report.
        if run.elastic.get("minReplicas") is None or run.elastic.get("maxReplicas") is None:
            yield _half_open(run, low, high)
    elif low > high:
        yield Problem(
            at.child("minReplicas"), f"minReplicas {low} is more than maxReplicas {high}", f"write {high} or less"
        )
    elif worker.replicas is not None and not low <= worker.replicas <= high:
        yield Problem(
            worker.at.child("replicas"),
            f"{worker.replicas} Workers lie outside the elastic range {low}:{high}",
            f"write a number from {low} to {high}, or widen the range",
            related=((at.child("minReplicas"), "the range begins here"),),
        )


def _half_open(run: Run, low: int | None, high: int | None) -> Problem:
    there, missing = ("minReplicas", "maxReplicas") if low is not None else ("maxReplicas", "minReplicas")
    count = low if low is not None else high
    return Problem(
        run.at.child("spec", "elasticPolicy", there),
        f"without {missing} the range is {count}:{count}, so the job cannot change its size",
        f"write {missing} too",
    )
