"""The restartPolicy in the pod template differs from the role's, which overwrites it.

Every job of `kubeflow.org` has a `restartPolicy` in each role, next to `replicas`. The operator overwrites the policy
in the template with it, or with its default: OnFailure for PyTorchJob, PaddleJob and the launcher of an MPIJob
v2beta1, Never for the others; ExitCode becomes Never in the pod. The only trace is a warning event. A PyTorchJob whose
template says Never still restarts its containers, and the state of the failed run is gone before anybody can look at
it.

A template with the same policy as the role is not reported. A job with several such roles is reported at the first one.

Write `restartPolicy` in the role and remove it from the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Add, Edit, Place, Remove
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Role, Run
from trainyard.startup import NamedTuple

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
def pod_template_restart_policy_ignored(run: Run) -> Iterator[Problem]:
    """Report restartPolicies in templates that those of the roles replace, at the first of a run."""
    if run.kind not in REPLICA_FIELDS:
        return
    found = [one for role in run.roles if (one := _ignored(role, run)) is not None]
    if not found:
        return
    first, *others = found
    names = " and ".join(one.role.name for one in found)
    yield Problem(
        first.at,
        f"template `restartPolicy: {first.written}` is ignored; {first.used} is used",
        f"write restartPolicy next to replicas of {names}",
        tuple(edit for one in found for edit in one.edits()),
        tuple((one.at, f"`{one.written}` is ignored; {one.used} is used") for one in others),
    )


class _Ignored(NamedTuple):
    """The restartPolicy of a template, and the `policy` that the operator uses in its place."""

    role: Role
    written: str
    policy: str

    @property
    def at(self) -> Place:
        return self.role.pod.at.child("restartPolicy")

    @property
    def used(self) -> str:
        return f"the role's {'' if self.role.restart_policy else 'default '}{self.policy}"

    def edits(self) -> tuple[Edit, ...]:
        """Moves the policy to a role that has none, and removes it from the template."""
        moved = () if self.role.restart_policy else (Add(self.role.at, "restartPolicy", self.written),)
        return (*moved, Remove(self.at))


def _ignored(role: Role, run: Run) -> _Ignored | None:
    written, policy = text(role.pod.tree, "restartPolicy"), role.restart_policy or _default(run, role)
    is_same = not written or written == ("Never" if policy == "ExitCode" else policy)
    return None if is_same else _Ignored(role, written, policy)


def _default(run: Run, role: Role) -> str:
    launcher = is_mpi_operator(run) and role.name == "Launcher"
    return "OnFailure" if run.kind in RESTARTING or launcher else "Never"
