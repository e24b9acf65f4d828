"""An MPIJob whose Worker has no replicas is given 0 of them, and the mpi-operator then refuses its own default.

For `kubeflow.org/v2beta1` the controller fills a missing `Worker.replicas` with 0 and afterwards validates that it is
at least 1. There is no admission webhook: the job is created, `kubectl get` shows it, and no pod ever starts. An
event on the job says that the value must be at least 1. An explicit 0 ends the same way. Other kinds of Kubeflow
default to one replica, which is why the field is easily left out.

Write the number of workers. A job that runs in the launcher alone has no Worker role at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import is_mpi_operator
from validator.fields import whole
from validator.model import Role
from validator.rule import Add, Context, Problem, SetValue, rule


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
    """A Worker role of an MPIJob without workers."""
    if context.run is None or not is_mpi_operator(context.run) or role.name != "Worker":
        return
    at = role.at.child("replicas")
    if role.tree.get("replicas") is None:
        yield Problem(
            at,
            "Worker has no replicas: the operator sets 0 and then refuses the job",
            "write the number of workers",
            (SetValue(at, 1),) if "replicas" in role.tree else (Add(role.at, "replicas", 1),),
        )
    elif (count := whole(role.tree, "replicas")) is not None and count < 1:
        yield Problem(
            at, f"Worker has {count} replicas: the operator refuses the job", "write 1 or more", (SetValue(at, 1),)
        )
