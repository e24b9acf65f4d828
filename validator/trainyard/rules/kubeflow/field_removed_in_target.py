"""The target release of Kubeflow Trainer no longer has the field, and drops it or rejects the object.

Up to release 2.1, `spec.labels` and `spec.annotations` of a TrainJob were copied to every object created for it. Since
2.2 the fields do not exist. Queue names, gang annotations and cost labels set there no longer reach the pods; without
its Kueue queue label, a job bypasses the quota. `kubectl apply` rejects the field; a client that does not ask for
validation gets a warning at most.

The rule needs the target's trainer version and is silent without it.

Write labels and annotations of the job in its `metadata`, and those of the pods in `runtimePatches`, under the
`metadata` of the pod template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import since
from trainyard.model.run import Run

GONE = ("labels", "annotations")


@rule(
    code="KF035",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubeflow/trainer v2.1.0 and v2.2.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: TrainJobSpec",),
    needs=("TrainJob", "TrainingRuntime"),
)
def field_removed_in_target(run: Run, context: Context) -> Iterator[Problem]:
    """Report a field that the target no longer has."""
    if run.kind != "TrainJob":
        return
    for field in GONE:
        if run.spec.get(field) and since(context.target.trainer, (2, 2)):
            yield Problem(
                run.at.child("spec", field).key(),
                f"Kubeflow Trainer 2.2 removed spec.{field} of TrainJob",
                f"write metadata.{field}, or {field} of the pod template in runtimePatches",
            )
