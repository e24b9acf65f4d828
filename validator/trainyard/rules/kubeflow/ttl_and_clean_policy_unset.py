"""A finished job keeps its pods and itself, because neither a lifetime nor a clean policy is set.

The operators' default for `cleanPodPolicy` is None: pods that still run when the job ends, such as Workers after the
Master has finished, go on running with their GPUs, and finished ones stay for their logs. `ttlSecondsAfterFinished`
has no default, so the job object is never deleted. On a shared cluster both add up to GPUs that nobody uses and
thousands of objects that slow the operator down.

Write `cleanPodPolicy: Running`, which ends what still runs and keeps logs, and a `ttlSecondsAfterFinished` of some
days in `runPolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Problem, rule


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
    """A job that nothing cleans up."""
    if run.kind not in REPLICA_FIELDS:
        return
    policy = mapping(run.spec, "runPolicy")
    # Directly under `spec` these fields have no effect, which is another rule's to say.
    said = {*policy, *run.spec}
    if not {"cleanPodPolicy", "ttlSecondsAfterFinished"} & said:
        yield Problem(
            run.at.child("spec", "runPolicy").key(),
            "the finished job keeps its running pods and itself for ever",
            "write runPolicy.cleanPodPolicy: Running and runPolicy.ttlSecondsAfterFinished",
        )
