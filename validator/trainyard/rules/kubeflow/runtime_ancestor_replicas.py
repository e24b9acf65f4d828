"""A step of a runtime has several replicas; the trainer's webhook allows only one Job per step.

A replicated job with the label `trainer.kubeflow.org/trainjob-ancestor-step` (`trainer`, `dataset-initializer` or
`model-initializer`) must have `replicas: 1` or no `replicas`. The number of nodes is another field: the trainer copies
`numNodes` into the Job's `parallelism` and `completions`. In plain JobSet style, nodes are `replicas`, which creates
several Jobs of one pod each, and ranks and addresses would no longer match.

Replicated jobs without the label may have any number of replicas.

Set `mlPolicy.numNodes` in the runtime, or `trainer.numNodes` in the TrainJob, and `replicas: 1` here.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import integer, items, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR, RUNTIMES, STEP_CONTAINERS
from trainyard.model.run import Run


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
    """Report a step with a number of replicas other than 1."""
    if run.kind not in RUNTIMES:
        return
    for index, job in enumerate(items(run.spec, "template", "spec", "replicatedJobs")):
        step, count = text(job, "template", "metadata", "labels", ANCESTOR), integer(job, "replicas")
        if step in STEP_CONTAINERS and count is not None and count != 1:
            at = run.at.child("spec", "template", "spec", "replicatedJobs", index, "replicas")
            yield Problem(
                at,
                f"the step `{step}` has {count} replicas; exactly 1 is allowed",
                "write 1; numNodes sets the number of pods",
                (SetValue(at, 1),),
            )
