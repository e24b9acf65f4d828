"""The policy value is unknown to the operator, and the schema does not reject it.

`cleanPodPolicy` is None, Running or All, and a role's `restartPolicy` is Always, OnFailure, Never or ExitCode. Both
are plain strings in the schema, so the API server does not find a wrong value. The training operator compares
`cleanPodPolicy` only with None and Running: any other value, `none` in lower case included, deletes all pods with
their logs as soon as the job ends. The mpi-operator rejects it with an event. An unknown `restartPolicy` is copied
into the pods, which the API server then rejects one after another.

The values are case-sensitive: write them as above.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Run

CLEAN = ("None", "Running", "All")
RESTART = ("Always", "OnFailure", "Never", "ExitCode")


@rule(
    code="KF029",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/job.go: DeletePodsAndServices; "
        "pkg/core/pod.go: SetRestartPolicy; manifests/base/crds: type string without enum",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/validation/validation.go: validCleanPolicies",
    ),
    fix="safe",
)
def policy_value_unknown(run: Run) -> Iterator[Problem]:
    """Report a policy value that no operator knows."""
    if run.kind not in REPLICA_FIELDS:
        return
    policy = mapping(run.spec, "runPolicy").get("cleanPodPolicy")
    yield from _unknown(policy, CLEAN, run.at.child("spec", "runPolicy", "cleanPodPolicy"))
    # The mpi-operator supports fewer restart policies, which another rule checks.
    for role in run.roles if not is_mpi_operator(run) else ():
        yield from _unknown(role.restart_policy, RESTART, role.at.child("restartPolicy"))


def _unknown(value: object, known: tuple[str, ...], at: Place) -> Iterator[Problem]:
    if not isinstance(value, str) or value in known:
        return
    meant = next((name for name in known if name.lower() == value.lower()), None)
    yield Problem(
        at,
        f"unknown {at.path[-1]} `{value}`",
        f"write {meant}" if meant is not None else f"write one of {', '.join(known)}",
        (SetValue(at, meant),) if meant is not None else (),
    )
