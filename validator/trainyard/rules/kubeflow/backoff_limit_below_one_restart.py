"""backoffLimit is used up by the first restart of the job, because it counts the containers of all pods together.

When one process of a PyTorchJob fails, the others fail with it and every pod restarts its container. The training
operator adds up the restarts of all containers, init containers included, over all running pods whose role restarts,
and fails the job once the sum reaches `backoffLimit`. For eight pods a limit of 3 is reached halfway through the
first recovery, although it reads like three retries; init containers that wait for the Master add their own restarts.

A limit of 0 says that nothing shall restart, and roles with restartPolicy Never or ExitCode do not count here.

Write the number of retries times the number of pods, and one more.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import whole
from validator.model import Run
from validator.rule import Problem, rule

COUNTED = ("OnFailure", "Always")
DEFAULT = "OnFailure"


@rule(
    code="KF024",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/core/job.go: PastBackoffLimit; "
        "pkg/apis/kubeflow.org/v1/pytorch_defaults.go: SetDefaults_PyTorchJob",
    ),
)
def backoff_limit_below_one_restart(run: Run) -> Iterator[Problem]:
    """A limit that one restart of every pod reaches."""
    limit = whole(run.spec, "runPolicy", "backoffLimit")
    if run.kind != "PyTorchJob" or not limit:
        return
    pods = sum(role.replicas or 0 for role in run.roles if (role.restart_policy or DEFAULT) in COUNTED)
    if 0 < limit <= pods:
        yield Problem(
            run.at.child("spec", "runPolicy", "backoffLimit"),
            f"one restart of all {pods} pods counts {pods}, and the job fails at {limit}",
            f"write {pods + 1} or more: {pods} for each restart of the job, and one",
        )
