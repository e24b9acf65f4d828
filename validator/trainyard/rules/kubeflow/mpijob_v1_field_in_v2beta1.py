"""The field belongs to the other version of MPIJob, so it is dropped or rejected.

The training operator serves `kubeflow.org/v1`, the mpi-operator `kubeflow.org/v2beta1`, and their specs differ.
v2beta1 has no `mainContainer`, and its `cleanPodPolicy` is in `runPolicy`; directly under `spec` it is unknown, and
finished workers keep their GPUs. `sshAuthMountPath`, `mpiImplementation`, `launcherCreationPolicy` and
`runLauncherAsWorker` exist only in v2beta1: a v1 job does not count the launcher as a worker, and starts Intel MPI
like Open MPI. `kubectl apply` reports an unknown field; clients that do not validate lose it silently.

Move `cleanPodPolicy` into `runPolicy`, remove `mainContainer`, or write the apiVersion that has the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Add, Edit, Place, Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run

ONLY_V2BETA1 = ("sshAuthMountPath", "mpiImplementation", "launcherCreationPolicy", "runLauncherAsWorker")


@rule(
    code="KF009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/mpi_types.go: MPIJobSpec",
        "kubeflow/mpi-operator v0.4.0 and v0.8.0 pkg/apis/kubeflow/v2beta1/types.go: MPIJobSpec",
    ),
    fix="safe",
    needs=("MPIJob",),
)
def mpijob_v1_field_in_v2beta1(run: Run) -> Iterator[Problem]:
    """Report a field of the other MPIJob version."""
    at = run.at.child("spec")
    if is_mpi_operator(run):
        if "mainContainer" in run.spec:
            place = at.child("mainContainer")
            yield Problem(
                place,
                "kubeflow.org/v2beta1 has no mainContainer: MPI reaches the workers over ssh",
                "remove it; the first container of a worker runs the ssh server",
                (Remove(place),),
            )
        if "cleanPodPolicy" in run.spec:
            place = at.child("cleanPodPolicy")
            yield Problem(
                place,
                "cleanPodPolicy is a field of runPolicy in kubeflow.org/v2beta1; here it is dropped",
                "move it into runPolicy",
                tuple(_moved(run, at, run.spec["cleanPodPolicy"])),
            )
    elif run.kind == "MPIJob":
        for field in (name for name in ONLY_V2BETA1 if name in run.spec):
            yield Problem(
                at.child(field),
                f"kubeflow.org/v1 has no {field}; only kubeflow.org/v2beta1 has it",
                "write apiVersion kubeflow.org/v2beta1 where the mpi-operator is installed, or remove the field",
            )


def _moved(run: Run, at: Place, value: Any) -> Iterator[Edit]:
    if "cleanPodPolicy" not in mapping(run.spec, "runPolicy"):
        yield Add(at.child("runPolicy"), "cleanPodPolicy", value)
    yield Remove(at.child("cleanPodPolicy"))
