"""The finished job and its pods stay, because neither a TTL nor a clean policy is set.

The operators' default for `cleanPodPolicy` is None: pods that still run when the job ends, such as Workers after the
Master has finished, keep running with their GPUs, and finished pods stay for their logs. `ttlSecondsAfterFinished` has
no default, so the job object is never deleted. On a shared cluster both add up to unused GPUs and thousands of objects
that slow the operator down.

Set `cleanPodPolicy: Running` in `runPolicy`, which deletes the pods that still run and keeps logs, and a
`ttlSecondsAfterFinished` of some days.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Run


@rule(
    code="KF019",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/pytorch_defaults.go: SetDefaults_PyTorchJob; "
        "common_types.go: RunPolicy",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/v2beta1/default.go: setDefaultsRunPolicy",
    ),
)
def ttl_and_clean_policy_unset(run: Run) -> Iterator[Problem]:
    """Report a job that nothing cleans up."""
    if run.kind not in REPLICA_FIELDS:
        return
    policy = mapping(run.spec, "runPolicy")
    # Another rule reports these fields directly under `spec`, where they have no effect.
    said = {*policy, *run.spec}
    if not {"cleanPodPolicy", "ttlSecondsAfterFinished"} & said:
        yield Problem(
            run.at.child("spec", "runPolicy").key(),
            "the finished job and the pods that still run are never deleted",
            "set runPolicy.cleanPodPolicy: Running and runPolicy.ttlSecondsAfterFinished",
        )
