"""The job has a `backoffLimit`, and no pod of it may be restarted, so the first failure ends the job.

The training operator counts the restarts of containers against `runPolicy.backoffLimit`, and those of pods whose role
has the restartPolicy OnFailure, Always or ExitCode alone. With `Never` a failed pod is never replaced: the job is
Failed at once. For a job of many hours that means that no lost node is survived. Rendered charts are left out.

Write `restartPolicy: OnFailure`, or ExitCode, which replaces the pod if its exit code is above 127.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, default_restart_policy
from trainyard.loaders.origins import RenderedDocument
from trainyard.model.run import Role, Run

_API = "kubeflow.org/v1"


@rule(
    code="KF060",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/kubeflow/mpi-operator issue 651",
        "kubeflow/training-operator v1.9.3 pkg/core/job.go: PastBackoffLimit",
    ),
    needs=("backoffLimit",),
)
def backoff_limit_without_restart(run: Run) -> Iterator[Problem]:
    """Report retries of jobs whose pods are never restarted."""
    if run.kind not in REPLICA_FIELDS or run.api_version != _API or not run.roles:
        return
    # A chart may compute the limit, as training-job does.
    if isinstance(run.at.document, RenderedDocument):
        return
    limit = integer(run.spec, "runPolicy", "backoffLimit")
    if not limit or limit < 1 or any(_policy(run, role) != "Never" for role in run.roles):
        return
    if all(role.restart_policy is None for role in run.roles):
        return
    yield Problem(
        run.at.child("spec", "runPolicy", "backoffLimit"),
        f"the job is never retried, not {limit} times: restartPolicy `Never` of its roles ends it at the first failure",
        "write `restartPolicy: OnFailure` or `ExitCode`",
        related=tuple(
            (role.at.child("restartPolicy"), f"that of {role.name}") for role in run.roles if role.restart_policy
        ),
    )


def _policy(run: Run, role: Role) -> str:
    return role.restart_policy or default_restart_policy(run.kind, run.api_version, role.name)
