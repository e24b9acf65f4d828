"""The files use the old training API beside Kubeflow Trainer 2, which does not serve it.

PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and MPIJob of `kubeflow.org/v1` belong to the training operator,
whose last line is 1.9. Kubeflow Trainer 2 replaces them with TrainJob and runtimes and installs none of their
definitions, so both operators have to run side by side for such files. The rule speaks when the target's trainer is 2
or newer, or when the files hold an object of `trainer.kubeflow.org` too.

`kubeflow.org/v2beta1` MPIJobs belong to the mpi-operator and are left alone.

Move the job to a TrainJob when it is changed anyway: `runtimeRef: torch-distributed`, with `numNodes`, image and
command under `trainer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import since
from validator.model import Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Context, Problem, rule


@rule(
    code="KF018",
    severity="info",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1; kubeflow/trainer v2.1.0 manifests/base/crds",
        "trainer.kubeflow.org documentation: migrating from the training operator",
    ),
)
def legacy_training_api(run: Run, context: Context) -> Iterator[Problem]:
    """A job of the training operator where Kubeflow Trainer 2 is at work."""
    if run.kind not in REPLICA_FIELDS or run.api_version != "kubeflow.org/v1":
        return
    group = "trainer.kubeflow.org/"
    beside = any(resource.api_version.startswith(group) for resource in context.project.resources)
    if beside or since(context.target.trainer, (2, 0)):
        yield Problem(
            run.at.child("kind"),
            f"{run.kind} is served by the training operator only, and not by Kubeflow Trainer 2",
            "write a TrainJob, or keep the training operator installed",
        )
