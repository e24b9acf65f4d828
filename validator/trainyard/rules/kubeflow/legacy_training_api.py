"""The job uses the old training API, which Kubeflow Trainer 2 does not serve.

PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and MPIJob of `kubeflow.org/v1` belong to the training operator, whose
last release line is 1.9. Kubeflow Trainer 2 replaces them with TrainJob and runtimes and installs none of their CRDs,
so such files need both operators. The rule applies when the target's trainer is 2 or newer, or when the files also
contain an object of `trainer.kubeflow.org`.

`kubeflow.org/v2beta1` MPIJobs belong to the mpi-operator and are not reported.

Migrate to a TrainJob when you next change the job: `runtimeRef: torch-distributed`, with `numNodes`, image and command
under `trainer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubeflow import REPLICA_FIELDS
from trainyard.facts.versions import since
from trainyard.model.run import Run


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
    """Report a job of the training operator where Kubeflow Trainer 2 is in use."""
    if run.kind not in REPLICA_FIELDS or run.api_version != "kubeflow.org/v1":
        return
    if context.project.has_group("trainer.kubeflow.org") or since(context.target.trainer, (2, 0)):
        yield Problem(
            run.at.child("kind"),
            f"only the training operator serves {run.kind}; Kubeflow Trainer 2 does not",
            "write a TrainJob, or keep the training operator installed",
        )
