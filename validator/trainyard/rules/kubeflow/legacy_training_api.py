"""The files are for Kubeflow Trainer 2, which does not serve this job of the training operator.

PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and MPIJob of `kubeflow.org/v1` belong to the training operator. Its
maintainers have closed the project, and 1.9.4 is its last release. Kubeflow Trainer 2 replaces the kinds with TrainJob
and runtimes and installs none of their CRDs, so a cluster needs both operators for such files.

The rule applies when the target's trainer is 2 or newer. It speaks once, at the first such job of all files. With
`--pedantic`, KF040 tells the same without a target: a cluster may have both operators, also where the files hold jobs
of both. MPIJobs of `kubeflow.org/v2beta1` belong to the mpi-operator and are not reported.

Write a TrainJob. The page [From PyTorchJob to TrainJob](../tutorials/to-trainjob.md) maps each field, and names what a
TrainJob cannot do.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.training_operator import jobs, others
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import since
from trainyard.model.run import Project


@rule(
    code="KF018",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.4 pkg/apis/kubeflow.org/v1; kubeflow/trainer v2.3.0 manifests/base/crds",
        "github.com/kubeflow/trainer/issues/3517: the project of v1 is closed",
        "trainer.kubeflow.org documentation: migrating from the training operator",
    ),
)
def legacy_training_api(project: Project, context: Context) -> Iterator[Problem]:
    """Report the first job of the training operator if the target is Kubeflow Trainer 2."""
    if not since(context.target.trainer, (2, 0)):
        return
    if found := jobs(project):
        yield Problem(
            found[0].at.child("kind"),
            f"Kubeflow Trainer 2 does not serve {found[0].kind}, only the closed training operator does{others(found)}",
            "write a TrainJob: see `From PyTorchJob to TrainJob` in the documentation",
        )
