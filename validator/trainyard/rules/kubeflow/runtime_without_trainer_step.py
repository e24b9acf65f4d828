"""No job of the runtime trains in the eyes of Kubeflow Trainer, so it ignores what the TrainJob asks for.

Trainer writes `spec.trainer` of a TrainJob into the job of the runtime whose template has the label
`trainer.kubeflow.org/trainjob-ancestor-step: trainer`. If no job has it, Trainer reports nothing. The pods run the
image and the command of the runtime, with its number of pods and without the variables of the rendezvous. A TrainJob of
two nodes then ends as `Complete` after one pod, and the program of the user has not run.

Label the template of the job whose container is `node`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR
from trainyard.model.run import Run


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
    """Report a TrainJob whose runtime has no job that trains."""
    if run.kind != "TrainJob" or not mapping(run.spec, "trainer"):
        return
    jobs = items(run.runtime, "template", "spec", "replicatedJobs")
    if jobs and not any(text(job, "template", "metadata", "labels", ANCESTOR) == "trainer" for job in jobs):
        yield Problem(
            run.at.child("spec", "trainer").key(),
            f"Trainer ignores this: no job of the runtime has the label `{ANCESTOR}: trainer`",
            "add the label to template.metadata.labels of the job whose container is `node`",
        )
