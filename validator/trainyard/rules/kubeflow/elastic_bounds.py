"""The Workers are outside the elastic range, or the range is one number, so the job cannot start or scale.

torchrun starts when at least `minReplicas` pods have joined and admits at most `maxReplicas`. With fewer Workers than
the minimum, every pod waits for the rendezvous and gives up after ten minutes. With more than the maximum, the surplus
pods hold their GPUs and are never admitted. A missing bound defaults to the other one: `maxReplicas: 8` alone means
8:8, and the loss of a single pod ends the training as if there were no elasticPolicy.

A job with neither bound is not reported: it uses the rendezvous without elasticity.

Write both bounds, with `Worker.replicas` between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


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
    """Report bounds that contradict each other or the number of Workers."""
    worker = run.role("Worker")
    if run.kind != "PyTorchJob" or run.elastic is None or worker is None:
        return
    at = run.at.child("spec", "elasticPolicy")
    low, high = integer(run.elastic, "minReplicas"), integer(run.elastic, "maxReplicas")
    if low is None and high is None:
        return
    if low is None or high is None:
        # The schema check reports a bound that is not a number.
        if run.elastic.get("minReplicas") is None or run.elastic.get("maxReplicas") is None:
            yield _half_open(run, low, high)
    elif low > high:
        yield Problem(
            at.child("minReplicas"), f"minReplicas {low} is above maxReplicas {high}", f"write {high} or less"
        )
    elif worker.replicas is not None and not low <= worker.replicas <= high:
        yield Problem(
            worker.at.child("replicas"),
            f"{worker.replicas} Workers are outside the elastic range {low}:{high}",
            f"write a number from {low} to {high}, or widen the range",
            related=((at.child("minReplicas"), "the range starts here"),),
        )


def _half_open(run: Run, low: int | None, high: int | None) -> Problem:
    there, missing = ("minReplicas", "maxReplicas") if low is not None else ("maxReplicas", "minReplicas")
    count = low if low is not None else high
    return Problem(
        run.at.child("spec", "elasticPolicy", there),
        f"without {missing} the range is {count}:{count}, so the job cannot scale",
        f"write {missing} too",
    )
