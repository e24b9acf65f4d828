"""The mpi-operator supports only restartPolicy Never and OnFailure; with another the MPIJob never starts.

The schema also lists `Always` and `ExitCode`, because the type was copied from the training operator, which supports
them. The mpi-operator's own validation rejects both: the job is admitted, an event reports an unsupported value, and
no pod is created. Jobs that were moved from `kubeflow.org/v1` to `kubeflow.org/v2beta1` fail this way.

Write `OnFailure` to restart a failed pod on its node, or `Never` to replace it with a new pod.
`runPolicy.backoffLimit` limits the number of launcher retries.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


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
    """Report a restart policy that the mpi-operator does not support."""
    if context.run is None or not is_mpi_operator(context.run) or role.restart_policy in (None, "Never", "OnFailure"):
        return
    at = role.at.child("restartPolicy")
    yield Problem(
        at,
        f"the mpi-operator does not support restartPolicy {role.restart_policy} of {role.name}",
        "write OnFailure or Never",
        (SetValue(at, "OnFailure"),),
    )
