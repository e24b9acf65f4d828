"""The restartPolicy in the pod template differs from the role's, which overwrites it.

Every job of `kubeflow.org` has a `restartPolicy` in each role, next to `replicas`. The operator overwrites the policy
in the template with it, or with its default: OnFailure for PyTorchJob, PaddleJob and the launcher of an MPIJob
v2beta1, Never for the others; ExitCode becomes Never in the pod. The only trace is a warning event. A PyTorchJob whose
template says Never still restarts its containers, and the state of the failed run is gone before anybody can look at
it.

A template with the same policy as the role is not reported.

Write `restartPolicy` in the role and remove it from the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Add, Edit, Remove
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Role, Run

RESTARTING = ("PyTorchJob", "PaddleJob")


@rule(
    code="KF028",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/core/pod.go: SetRestartPolicy; pkg/apis/kubeflow.org/v1: defaults",
        "kubeflow/mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go: setRestartPolicy",
    ),
    fix="unsafe",
)
def pod_template_restart_policy_ignored(role: Role, context: Context) -> Iterator[Problem]:
    """Report a restartPolicy in the template that the role's replaces."""
    run = context.run
    written = text(role.pod.tree, "restartPolicy")
    if run is None or run.kind not in REPLICA_FIELDS or not written:
        return
    policy = role.restart_policy or _default(run, role)
    if written == ("Never" if policy == "ExitCode" else policy):
        return
    at = role.pod.at.child("restartPolicy")
    used = "the role's" if role.restart_policy else "the role's default"
    moved: tuple[Edit, ...] = () if role.restart_policy else (Add(role.at, "restartPolicy", written),)
    yield Problem(
        at,
        f"template `restartPolicy: {written}` is ignored; {used} {policy} is used",
        f"write restartPolicy next to replicas of {role.name}",
        (*moved, Remove(at)),
    )


def _default(run: Run, role: Role) -> str:
    launcher = is_mpi_operator(run) and role.name == "Launcher"
    return "OnFailure" if run.kind in RESTARTING or launcher else "Never"
