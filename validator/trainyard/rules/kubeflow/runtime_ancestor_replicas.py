"""A step of a runtime is replicated, and the trainer's webhook refuses that: a step is one Job of several pods.

A replicated job with the label `trainer.kubeflow.org/trainjob-ancestor-step` (`trainer`, `dataset-initializer` or
`model-initializer`) must have `replicas: 1`, or leave it out. The number of nodes is another field: the trainer
writes `numNodes` into the Job's `parallelism` and `completions`. People who know JobSet write the nodes as
`replicas`, which makes several Jobs of one pod each, and ranks and addresses would no longer fit.

Replicated jobs without the label may have any number of replicas.

Write `mlPolicy.numNodes` in the runtime, or `trainer.numNodes` in the TrainJob, and `replicas: 1` here.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import ANCESTOR, RUNTIMES, STEP_CONTAINERS
from validator.fields import items, text, whole
from validator.model import Run
from validator.rule import Problem, SetValue, rule


@rule(
    code="KF017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/trainer v2.1.0 pkg/webhooks/trainingruntime_webhook.go: validateReplicatedJobs",),
    fix="safe",
    needs=("TrainingRuntime",),
)
def runtime_ancestor_replicas(run: Run) -> Iterator[Problem]:
    """A step with other than one replica."""
    if run.kind not in RUNTIMES:
        return
    for index, job in enumerate(items(run.spec, "template", "spec", "replicatedJobs")):
        step, count = text(job, "template", "metadata", "labels", ANCESTOR), whole(job, "replicas")
        if step in STEP_CONTAINERS and count is not None and count != 1:
            at = run.at.child("spec", "template", "spec", "replicatedJobs", index, "replicas")
            yield Problem(
                at,
                f"the step `{step}` has {count} replicas, and exactly 1 is allowed",
                "write 1; the number of pods is numNodes",
                (SetValue(at, 1),),
            )
