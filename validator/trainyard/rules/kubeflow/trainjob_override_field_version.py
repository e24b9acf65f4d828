"""The field with which a TrainJob overrides its pods has another name in the target release.

The field has had three names, each with its own structure: `podSpecOverrides` in 2.0, `podTemplateOverrides` with
`metadata` and `spec` in 2.1, and since 2.2 `runtimePatches`, which follow the structure of the runtime down to the pod
template and name a `manager`. No release knows two of them. A field of another release is unknown: `kubectl apply`
rejects it, other clients lose it, and the run then starts without its volumes, tolerations and node selector.

The rule needs the target's trainer version and is silent without it.

Write the field of the installed release, and convert the contents to its structure by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Run

# Each release has one of them: 2.0 the first, 2.1 the second, and later ones the third.
FIELDS = ("podSpecOverrides", "podTemplateOverrides", "runtimePatches")


@rule(
    code="KF013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.0.0, v2.1.0, v2.2.0 and v2.3.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: TrainJobSpec",
    ),
    needs=("TrainJob", "TrainingRuntime"),
)
def trainjob_override_field_version(run: Run, context: Context) -> Iterator[Problem]:
    """Report an override field that the target does not have."""
    version = context.target.trainer
    if run.kind != "TrainJob" or version is None or version < (2, 0):
        return
    known = FIELDS[0] if before(version, (2, 1)) else FIELDS[1] if before(version, (2, 2)) else FIELDS[2]
    for field in FIELDS:
        if field in run.spec and field != known:
            release = ".".join(str(part) for part in version)
            yield Problem(
                run.at.child("spec", field).key(),
                f"Kubeflow Trainer {release} has no spec.{field}",
                f"convert it to spec.{known}",
            )
