"""The field belongs into runPolicy; directly under spec it is unknown and has no effect.

`cleanPodPolicy`, `ttlSecondsAfterFinished`, `activeDeadlineSeconds`, `backoffLimit`, `schedulingPolicy`, `suspend`
and `managedBy` stand in `spec.runPolicy` of every job of `kubeflow.org`. Directly under `spec`, where a batch/v1 Job
and very old examples have them, `kubectl apply` refuses them as unknown; a client that does not ask for validation
gets a warning at most, and the API server drops them: the job is never cleaned up, never times out, is not suspended
for the queue, or has no retry limit.

MPIJob v1 still has its own `cleanPodPolicy` under `spec`.

Move the field into `runPolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUN_POLICY
from validator.model import Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Add, Edit, Problem, Remove, rule


@rule(
    code="KF020",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go: RunPolicy; "
        "manifests/base/crds: no spec of a job keeps unknown fields",
        "kubernetes.io custom resource definitions: field pruning",
    ),
    fix="safe",
    needs=("kubeflow.org",),
)
def field_outside_run_policy(run: Run) -> Iterator[Problem]:
    """A field of runPolicy that stands beside it."""
    if run.kind not in REPLICA_FIELDS:
        return
    at = run.at.child("spec")
    # Of MPIJob one version has cleanPodPolicy here, and the other's is reported with its further differences.
    fields = [
        name for name in RUN_POLICY if name in run.spec and not (run.kind == "MPIJob" and name == "cleanPodPolicy")
    ]
    moved = tuple(_moved(run, fields))
    for name in fields:
        yield Problem(
            at.child(name),
            f"{name} has no effect directly under spec of a {run.kind}: it is a field of runPolicy",
            f"write it as runPolicy.{name}",
            (*moved, Remove(at.child(name))),
        )


def _moved(run: Run, fields: list[str]) -> Iterator[Edit]:
    policy = run.spec.get("runPolicy")
    at = run.at.child("spec")
    if isinstance(policy, dict) and policy:
        for name in fields:
            if name not in policy:
                yield Add(at.child("runPolicy"), name, run.spec[name])
    elif "runPolicy" not in run.spec:
        # One mapping with all of them: each on its own would bring a runPolicy of its own.
        yield Add(at, "runPolicy", {name: run.spec[name] for name in fields})
