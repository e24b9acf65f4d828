"""The field belongs in runPolicy; directly under spec it is unknown and has no effect.

`cleanPodPolicy`, `ttlSecondsAfterFinished`, `activeDeadlineSeconds`, `backoffLimit`, `schedulingPolicy`, `suspend` and
`managedBy` are fields of `spec.runPolicy` in every job of `kubeflow.org`. A batch/v1 Job and very old examples have
them directly under `spec`. There, `kubectl apply` rejects them as unknown; a client that does not ask for validation
gets a warning at most, and the API server drops them. The job is then never cleaned up, never times out, is not
suspended for the queue, or has no retry limit.

MPIJob v1 still has its own `cleanPodPolicy` under `spec`.

Move the field into `runPolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add, Edit, Remove
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, RUN_POLICY
from trainyard.model.run import Run

# Older versions have these fields under spec; no operator serves them any more.
VERSIONS = ("kubeflow.org/v1", "kubeflow.org/v2beta1")


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
    """Report a field of runPolicy directly under spec."""
    if run.kind not in REPLICA_FIELDS or run.api_version not in VERSIONS:
        return
    at = run.at.child("spec")
    # MPIJob v1 has cleanPodPolicy here; KF009 reports it in v2beta1.
    fields = [
        name for name in RUN_POLICY if name in run.spec and not (run.kind == "MPIJob" and name == "cleanPodPolicy")
    ]
    moved = tuple(_moved(run, fields))
    for name in fields:
        yield Problem(
            at.child(name),
            f"{name} is a field of runPolicy; directly under spec of a {run.kind} it has no effect",
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
    elif not policy:
        if "runPolicy" in run.spec:
            yield Remove(at.child("runPolicy"))
        # One edit adds all fields: separate edits would each add their own runPolicy.
        yield Add(at, "runPolicy", {name: run.spec[name] for name in fields})
