"""No job of the runtime trains in the eyes of Kubeflow Trainer, so it ignores what the TrainJob asks for.

Trainer writes `spec.trainer` of a TrainJob into the job of the runtime whose template has the label
`trainer.kubeflow.org/trainjob-ancestor-step: trainer`. If no job has it, Trainer reports nothing. The pods run the
image and the command of the runtime, with its number of pods and without the variables of the rendezvous. A TrainJob of
two nodes then ends as `Complete` after one pod, and the program of the user has not run.

In a runtime, the rule reports a label that is almost this one: with another name behind `trainer.kubeflow.org/`, with a
value that is no step, or on the pods in place of the job.

Label the template of the job whose container is `node`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR, RUNTIMES, STEP_CONTAINERS
from trainyard.model.run import Run

_TRAINER = "trainer"
_DOMAIN = "trainer.kubeflow.org/"
_OF_JOB = ("template", "metadata", "labels")
_OF_PODS = ("template", "spec", "template", "metadata", "labels")


@rule(
    code="KF044",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/torch/torch.go: FindPodSetByAncestor",
        "kubeflow/trainer v2.3.0 pkg/webhooks/trainingruntime_webhook.go: a job without the label is not validated",
        "seen with Trainer 2.3.0 on Kubernetes 1.37",
    ),
    needs=("TrainingRuntime", "TrainJob"),
)
def runtime_without_trainer_step(run: Run) -> Iterator[Problem]:
    """Report a TrainJob whose runtime has no job that trains, and a runtime in which the label is misspelt."""
    if run.kind in RUNTIMES:
        yield from _misspelt(run)
    if run.kind != "TrainJob" or not mapping(run.spec, "trainer"):
        return
    jobs = items(run.runtime, "template", "spec", "replicatedJobs")
    if jobs and not _has_trainer(jobs):
        yield Problem(
            run.at.child("spec", "trainer").key(),
            f"Trainer ignores this: no job of the runtime has the label `{ANCESTOR}: trainer`",
            "add the label to template.metadata.labels of the job whose container is `node`",
        )


def _has_trainer(jobs: list[Any]) -> bool:
    return any(text(job, *_OF_JOB, ANCESTOR) == _TRAINER for job in jobs)


def _misspelt(run: Run) -> Iterator[Problem]:
    """Yields labels of a runtime without a job that trains that are meant to mark it."""
    jobs = items(run.spec, "template", "spec", "replicatedJobs")
    at = run.at.child("spec", "template", "spec", "replicatedJobs")
    for index, job in enumerate(jobs if not _has_trainer(jobs) else ()):
        labels, below = mapping(job, *_OF_JOB), at.child(index, *_OF_JOB)
        for name, value in labels.items():
            if name == ANCESTOR and str(value) not in STEP_CONTAINERS and "{" not in str(value):
                steps = ", ".join(STEP_CONTAINERS)
                yield Problem(below.child(name), f"Trainer has no step `{value}`", f"write one of {steps}")
            elif str(name).startswith(_DOMAIN) and name != ANCESTOR and value == _TRAINER:
                yield Problem(below.child(name).key(), f"Trainer does not read `{name}`", f"write `{ANCESTOR}`")
        if ANCESTOR not in labels and text(job, *_OF_PODS, ANCESTOR) == _TRAINER:
            yield Problem(
                at.child(index, *_OF_PODS, ANCESTOR).key(),
                "Trainer reads this label of the template of the job, and ignores that of its pods",
                "move it to `template.metadata.labels` of the replicated job",
            )
