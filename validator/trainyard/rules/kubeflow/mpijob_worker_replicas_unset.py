"""The Worker role of an MPIJob has no replicas: the mpi-operator sets 0 and then rejects the job.

For `kubeflow.org/v2beta1` the controller sets a missing `Worker.replicas` to 0 and then validates that it is at least
1. There is no admission webhook: the job is created, `kubectl get` shows it, and no pod ever starts. An event on the
job says that the value must be at least 1. An explicit 0 fails the same way. Other Kubeflow kinds default to one
replica, so the field is easily forgotten.

Write the number of workers. If the job runs only in the launcher, remove the Worker role.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Add, SetValue
from trainyard.document.lookup import integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


@rule(
    code="KF010",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/v2beta1/default.go: setDefaultsTypeWorker; "
        "pkg/apis/kubeflow/validation/validation.go: validateWorkerReplicaSpec",
    ),
    fix="unsafe",
    needs=("MPIJob",),
)
def mpijob_worker_replicas_unset(role: Role, context: Context) -> Iterator[Problem]:
    """Report a Worker role of an MPIJob without workers."""
    if context.run is None or not is_mpi_operator(context.run) or role.name != "Worker":
        return
    at = role.at.child("replicas")
    if role.tree.get("replicas") is None:
        yield Problem(
            at,
            "Worker has no replicas: the operator sets 0 and then rejects the job",
            "write the number of workers",
            (SetValue(at, 1),) if "replicas" in role.tree else (Add(role.at, "replicas", 1),),
        )
    elif (count := integer(role.tree, "replicas")) is not None and count < 1:
        yield Problem(
            at, f"Worker has {count} replicas: the operator rejects the job", "write 1 or more", (SetValue(at, 1),)
        )
