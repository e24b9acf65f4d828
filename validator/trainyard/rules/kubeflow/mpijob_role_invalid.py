"""An MPIJob is one Launcher and its Workers; in any other shape it is created and never starts.

Both operators validate the job after the API server has taken it, so `kubectl apply` succeeds and an event on the job
says what is wrong. There has to be a Launcher, with one replica when the number is written, and role names are
matched as they stand: `launcher` is none. A further role is an error for the training operator (`kubeflow.org/v1`)
and is passed over in silence by the mpi-operator (`kubeflow.org/v2beta1`), which starts no pod for it. Master and
Worker, as in a PyTorchJob, are the usual mix-up.

Call the roles `Launcher` and `Worker`, and give the Launcher one replica.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping, whole
from validator.model import Run
from validator.rule import Problem, SetValue, rule

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
    """Roles that no MPI operator starts."""
    roles = mapping(run.spec, "mpiReplicaSpecs")
    if run.kind != "MPIJob" or not roles:
        return
    at = run.at.child("spec", "mpiReplicaSpecs")
    others = [name for name in roles if name not in ROLES]
    for name in others:
        yield Problem(at.child(name).key(), f"an MPIJob has no role `{name}`", "the roles are Launcher and Worker")
    if "Launcher" not in roles and not others:
        yield Problem(
            at.key(), "the MPIJob has no Launcher, so nothing calls mpirun", "write a Launcher with one replica"
        )
    count = whole(roles, "Launcher", "replicas")
    if count is not None and count != 1:
        place = at.child("Launcher", "replicas")
        yield Problem(place, f"the Launcher has {count} replicas, and 1 is allowed", "write 1", (SetValue(place, 1),))
