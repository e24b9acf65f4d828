"""Kubeflow's Python SDK cannot read a runtime without the label of its framework, a job that trains, or a known device.

`TrainerClient` of the package `kubeflow` reads all runtimes of the cluster and of the namespace. It skips a runtime
without the label `trainer.kubeflow.org/framework`: `train()` with this runtime fails, and one TrainJob of the runtime
makes `list_jobs()` fail for the whole namespace. Limits that name neither `cpu` nor an accelerator make
`list_runtimes()` fail for everybody: `Unknown device type in the container resources`. So does a runtime in which no
job has the label `trainer.kubeflow.org/trainjob-ancestor-step: trainer`: `Runtime doesn't have trainer container`.

kubectl needs none of it. Trainer needs the label of the job alone: without it, image, command and resources of a
TrainJob do not reach the pods, and the pods get no variables of the rendezvous.

Set the label to the framework, e.g. `torch`, `deepspeed`, `jax` or `mpi`, label the job, and add a limit for `cpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import ANCESTOR, RUNTIMES
from trainyard.model.run import Run

LABEL = "trainer.kubeflow.org/framework"
# Devices of which the SDK knows the name.
DEVICES = ("cpu", "nvidia.com/gpu", "google.com/tpu", "huawei.com/Ascend910")
MIG = "nvidia.com/mig-"
POD = ("template", "spec", "template", "spec")


@rule(
    code="KF041",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubeflow/sdk 0.5.0 kubeflow/trainer/backends/kubernetes: backend.py, utils.py get_container_devices",
        "kubeflow/sdk 0.5.0 kubeflow/trainer/backends/kubernetes/utils.py get_runtime_trainer",
    ),
    needs=("TrainingRuntime",),
)
def runtime_unknown_to_sdk(run: Run) -> Iterator[Problem]:
    """Report a runtime that the SDK skips, or that makes it fail."""
    if run.kind not in RUNTIMES:
        return
    if not run.labels.get(LABEL):
        yield Problem(
            run.at.child("metadata", "name"),
            f"the runtime has no label `{LABEL}`: Kubeflow's SDK skips it, and list_jobs() fails for its TrainJobs",
            "add the label, e.g. with the value `torch`",
        )
    jobs = items(run.spec, "template", "spec", "replicatedJobs")
    if jobs and not any(text(job, "template", "metadata", "labels", ANCESTOR) == "trainer" for job in jobs):
        yield Problem(
            run.at.child("spec", "template", "spec", "replicatedJobs").key(),
            f"no job has the label `{ANCESTOR}: trainer`: Trainer changes no pod of it, and the SDK cannot read it",
            "add the label to template.metadata.labels of the job whose container is `node`",
        )
    for index, job in enumerate(jobs):
        if text(job, "template", "metadata", "labels", ANCESTOR) != "trainer":
            continue
        at = run.at.child("spec", "template", "spec", "replicatedJobs", index, *POD)
        for place, container in enumerate(items(job, *POD, "containers")):
            limits = mapping(container, "resources", "limits")
            if limits and not any(name in DEVICES or str(name).startswith(MIG) for name in limits):
                yield Problem(
                    at.child("containers", place, "resources", "limits").key(),
                    "the limits name no device that Kubeflow's SDK knows, so list_runtimes() fails for everybody",
                    "add a limit for `cpu`",
                )
