"""The first restart of the job uses up backoffLimit, which counts the containers of all pods.

When one process of a PyTorchJob fails, the others fail with it and every pod restarts its container. The training
operator adds up the restarts of all containers, init containers included, over all running pods whose role restarts,
and fails the job once the sum reaches `backoffLimit`. With eight pods a limit of 3 is reached halfway through the
first recovery, although it reads like three retries. Init containers that wait for the Master add their own restarts.

The rule skips a limit of 0, which means no restarts, and does not count roles with restartPolicy Never or ExitCode.

Write the number of retries times the number of pods, plus one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run

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
    """Report a limit that one restart of every pod reaches."""
    limit = integer(run.spec, "runPolicy", "backoffLimit")
    if run.kind != "PyTorchJob" or not limit:
        return
    pods = sum(role.replicas or 0 for role in run.roles if (role.restart_policy or DEFAULT) in COUNTED)
    if 0 < limit <= pods:
        yield Problem(
            run.at.child("spec", "runPolicy", "backoffLimit"),
            f"a restart of the job counts once for each pod ({pods}), so the first one reaches backoffLimit {limit}",
            f"write {pods + 1} or more: {pods} for each restart of the job, plus one",
        )
