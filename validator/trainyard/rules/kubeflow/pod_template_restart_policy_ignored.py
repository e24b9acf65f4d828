"""The restartPolicy in the pod template is overwritten by the role's, and the two differ.

Every job of `kubeflow.org` has a `restartPolicy` in each role, beside `replicas`. The operator writes it over the one
in the template, its default included: OnFailure for PyTorchJob, PaddleJob and the launcher of an MPIJob v2beta1,
Never for the others; ExitCode becomes Never in the pod. The only trace is a warning event. A PyTorchJob whose
template says Never restarts its containers for all that, and the failed run's state is gone when somebody looks.

A template that says the same as the role is left alone.

Write `restartPolicy` in the role and leave it out of the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import is_mpi_operator
from validator.fields import text
from validator.model import Role, Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Add, Context, Edit, Problem, Remove, rule

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
    """A policy in the template that the role's replaces."""
    run = context.run
    written = text(role.pod.tree, "restartPolicy")
    if run is None or run.kind not in REPLICA_FIELDS or not written:
        return
    policy = role.restart_policy or _default(run, role)
    if written == ("Never" if policy == "ExitCode" else policy):
        return
    at = role.pod.at.child("restartPolicy")
    whose = "the role's" if role.restart_policy else "the default of"
    moved: tuple[Edit, ...] = () if role.restart_policy else (Add(role.at, "restartPolicy", written),)
    yield Problem(
        at,
        f"restartPolicy {written} of the pod template gives way to {whose} {policy}",
        f"write restartPolicy beside replicas of {role.name}",
        (*moved, Remove(at)),
    )


def _default(run: Run, role: Role) -> str:
    launcher = is_mpi_operator(run) and role.name == "Launcher"
    return "OnFailure" if run.kind in RESTARTING or launcher else "Never"
