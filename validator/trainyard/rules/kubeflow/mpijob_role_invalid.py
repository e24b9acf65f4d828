"""An MPIJob needs exactly the roles Launcher and Worker; in any other form it is created and never starts.

Both operators validate the job after the API server has accepted it, so `kubectl apply` succeeds and only an event on
the job reports the fault. A Launcher is required, with one replica if the number is set, and role names are
case-sensitive: `launcher` is not a Launcher. A further role is an error for the training operator (`kubeflow.org/v1`);
the mpi-operator (`kubeflow.org/v2beta1`) silently ignores it and starts no pod for it. Master and Worker, as in a
PyTorchJob, are the usual mix-up.

Name the roles `Launcher` and `Worker`, and give the Launcher one replica.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run

ROLES = ("Launcher", "Worker")


@rule(
    code="KF031",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/mpi_validation.go: ValidateV1MpiJobSpec",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/validation/validation.go: validateLauncherReplicaSpec",
    ),
    fix="safe",
    needs=("MPIJob",),
)
def mpijob_role_invalid(run: Run) -> Iterator[Problem]:
    """Report roles that no MPI operator starts."""
    roles = mapping(run.spec, "mpiReplicaSpecs")
    if run.kind != "MPIJob" or not roles:
        return
    at = run.at.child("spec", "mpiReplicaSpecs")
    others = [name for name in roles if name not in ROLES]
    for name in others:
        yield Problem(at.child(name).key(), f"an MPIJob has no role `{name}`", "name the roles Launcher and Worker")
    if "Launcher" not in roles and not others:
        yield Problem(
            at.key(), "the MPIJob has no Launcher, so nothing runs mpirun", "write a Launcher with one replica"
        )
    count = integer(roles, "Launcher", "replicas")
    if count is not None and count != 1:
        place = at.child("Launcher", "replicas")
        yield Problem(
            place, f"the Launcher has {count} replicas; exactly 1 is allowed", "write 1", (SetValue(place, 1),)
        )
