"""No controller takes a job whose `managedBy` it does not know, or the API server refuses the job at once.

`managedBy` says who runs a job: the operator that ships with the kind, or `kueue.x-k8s.io/multikueue` when MultiKueue
sends it to another cluster. Each kind has its own name for its operator: `kubeflow.org/training-operator` for the v1
jobs, `kubeflow.org/mpi-operator` for an MPIJob v2beta1, `trainer.kubeflow.org/trainjob-controller` for a TrainJob. Any
other value is rejected by webhook, by the CRD, or for the MPIJob by an event behind which nothing happens.

A JobSet and a `batch/v1` Job take any name of the form `domain/path` up to 63 characters, so only the form is judged
there. The value cannot be changed later. Leave the field away for the built-in operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Run
from validator.rule import Problem, SetValue, rule

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
TRAINING_OPERATOR = "kubeflow.org/training-operator"
MPI_OPERATOR = "kubeflow.org/mpi-operator"
TRAINER = "trainer.kubeflow.org/trainjob-controller"
BUILT_IN = {
    **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"), TRAINING_OPERATOR),
    "MPIJob": MPI_OPERATOR,
    "TrainJob": TRAINER,
}
# Names of operators, those of other kinds and of earlier API versions: what is meant is this kind's own.
OPERATORS = (
    *(TRAINING_OPERATOR, MPI_OPERATOR, TRAINER, "kubeflow.org/trainjob-controller"),
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
        "kubernetes-sigs/jobset pkg/webhooks/jobset_webhook.go: IsDomainPrefixedPath, maxManagedByLength",
    ),
    fix="safe",
    needs=("managedBy",),
)
def managed_by_invalid(run: Run) -> Iterator[Problem]:
    """A manager that this kind does not know."""
    in_policy = run.api_version.startswith("kubeflow.org/")
    holder, at = run.spec, run.at.child("spec")
    if in_policy:
        holder, at = mapping(run.spec, "runPolicy"), at.child("runPolicy")
    manager, place = holder.get("managedBy"), at.child("managedBy")
    if not isinstance(manager, str):
        return
    if run.kind in ("JobSet", "Job"):
        if "/" not in manager or len(manager) > 63:
            yield Problem(
                place, f"`{manager}` is not of the form domain/path", "write domain/path, at most 63 characters"
            )
        return
    built_in = BUILT_IN.get(run.kind)
    # An MPIJob of kubeflow.org/v1 has no webhook: any name hands it to a controller of the site's own.
    if (
        built_in is None
        or manager in (built_in, MULTIKUEUE)
        or (run.kind == "MPIJob" and run.api_version.endswith("/v1"))
    ):
        return
    meant = built_in if manager in OPERATORS else MULTIKUEUE if "kueue" in manager.lower() else None
    yield Problem(
        place,
        f"a {run.kind} cannot be managed by `{manager}`",
        f"write `{meant}`" if meant else f"write `{built_in}` or `{MULTIKUEUE}`",
        (SetValue(place, meant),) if meant else (),
    )
