"""`managedBy` names a controller that this kind does not allow, so no controller runs the job.

`managedBy` names the controller of a job: the operator of the kind, or `kueue.x-k8s.io/multikueue` if MultiKueue sends
the job to another cluster. Each kind has its own name for its operator: `kubeflow.org/training-operator` for the v1
jobs, `kubeflow.org/mpi-operator` for an MPIJob v2beta1, `trainer.kubeflow.org/trainjob-controller` for a TrainJob,
`ray.io/kuberay-operator` for a RayJob or RayCluster. A webhook or the CRD rejects any other value; an MPIJob gets an
event, and then nothing happens.

A JobSet and a `batch/v1` Job accept any name of the form `domain/path` up to 63 characters, so the rule checks only the
form. The value cannot be changed later. Remove the field to use the built-in operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import WITH_SERVICES
from trainyard.model.run import Run

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
TRAINING_OPERATOR = "kubeflow.org/training-operator"
MPI_OPERATOR = "kubeflow.org/mpi-operator"
RAY_OPERATOR = "ray.io/kuberay-operator"
TRAINER = "trainer.kubeflow.org/trainjob-controller"
BUILT_IN = {
    **dict.fromkeys(WITH_SERVICES, TRAINING_OPERATOR),
    "MPIJob": MPI_OPERATOR,
    "TrainJob": TRAINER,
    "RayJob": RAY_OPERATOR,
    "RayCluster": RAY_OPERATOR,
}
# Names of operators, of other kinds and earlier API versions too: the fix writes the operator of this kind.
OPERATORS = (
    *(TRAINING_OPERATOR, MPI_OPERATOR, TRAINER, RAY_OPERATOR, "kubeflow.org/trainjob-controller"),
    *("jobset.sigs.k8s.io/jobset-controller", "kubernetes.io/job-controller"),
)


@rule(
    code="TP007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.0 pkg/common/util/webhooks.go: ValidateRunPolicy",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/validation/validation.go: validateRunPolicy",
        "kubeflow/trainer v2.2.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: managedBy",
        "ray-project/kuberay v1.7.0 ray-operator/apis/ray/v1: managedBy of RayCluster and RayJob",
        "kubernetes-sigs/jobset pkg/webhooks/jobset_webhook.go: IsDomainPrefixedPath, maxManagedByLength",
    ),
    fix="safe",
    needs=("managedBy",),
)
def managed_by_invalid(run: Run) -> Iterator[Problem]:
    """A controller that this kind does not allow."""
    in_policy = run.api_version.startswith("kubeflow.org/")
    holder, at = run.spec, run.at.child("spec")
    if in_policy:
        holder, at = mapping(run.spec, "runPolicy"), at.child("runPolicy")
    manager, place = holder.get("managedBy"), at.child("managedBy")
    if not isinstance(manager, str):
        return
    if run.kind == "JobSet" or is_batch_job(run):
        if "/" not in manager or len(manager) > 63:
            yield Problem(
                place, f"`{manager}` is not of the form domain/path", "write domain/path, at most 63 characters"
            )
        return
    built_in = BUILT_IN.get(run.kind)
    # An MPIJob of kubeflow.org/v1 has no webhook: any name is valid and may belong to a controller of the site.
    if (
        built_in is None
        or manager in (built_in, MULTIKUEUE)
        or (run.kind == "MPIJob" and run.api_version.endswith("/v1"))
    ):
        return
    meant = built_in if manager in OPERATORS else MULTIKUEUE if "kueue" in manager.lower() else None
    yield Problem(
        place,
        f"`{manager}` is not a controller of {run.kind}: no controller runs the job",
        f"write `{meant}`" if meant else f"write `{built_in}` or `{MULTIKUEUE}`",
        (SetValue(place, meant),) if meant else (),
    )
