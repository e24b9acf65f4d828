"""The mpi-operator knows the restart policies Never and OnFailure; with any other the MPIJob never starts.

The schema describes `Always` and `ExitCode` as well, because the type was copied from the training operator, where
they work. The mpi-operator's own validation takes neither: the job is admitted, and an event tells that the value is
not supported. No pod is created. Jobs that were moved from `kubeflow.org/v1` to `kubeflow.org/v2beta1` fail this way.

Write `OnFailure` where a pod shall be started again on its node, `Never` where a new pod shall take its place. How
often the launcher is tried is `runPolicy.backoffLimit`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import is_mpi_operator
from validator.model import Role
from validator.rule import Context, Problem, SetValue, rule


@rule(
    code="KF012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/validation/validation.go: validRestartPolicies",),
    fix="safe",
    needs=("MPIJob",),
)
def mpijob_restart_policy(role: Role, context: Context) -> Iterator[Problem]:
    """A restart policy that the mpi-operator does not support."""
    if context.run is None or not is_mpi_operator(context.run) or role.restart_policy in (None, "Never", "OnFailure"):
        return
    at = role.at.child("restartPolicy")
    yield Problem(
        at,
        f"the mpi-operator refuses restartPolicy {role.restart_policy} of {role.name}",
        "write OnFailure or Never",
        (SetValue(at, "OnFailure"),),
    )
