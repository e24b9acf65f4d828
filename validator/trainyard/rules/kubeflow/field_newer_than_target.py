"""The field or kind is newer than the target release, which drops it or rejects the object.

A manifest that is newer than the operator does not always fail. `kubectl apply` rejects an unknown field, but a client
that does not ask for validation gets a warning at most, and the API server drops what its schema does not know. The
run then starts without its deadline, its gang or its variables. Newer kinds fail with "no matches for kind".

The rule knows fields of TrainJob and its runtimes (Kubeflow Trainer 2) and of the training operator's jobs (a target
of 1.x), and needs the target's trainer version. The override fields of TrainJob have a rule of their own.

Upgrade the operator to the release that has the field, or remove the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, RUNTIMES
from trainyard.facts.versions import before
from trainyard.model.run import Run

Release = tuple[int, int]
_PATCHED_POD = "runtimePatches/*/trainingRuntimeSpec/template/spec/replicatedJobs/*/template/spec/template/spec/"
TRAIN_JOB: dict[str, Release] = {
    "activeDeadlineSeconds": (2, 2),
    _PATCHED_POD + "terminationGracePeriodSeconds": (2, 3),
}
RUNTIME: dict[str, Release] = {
    "podGroupPolicy/volcano": (2, 1),
    "mlPolicy/jax": (2, 2),
    "mlPolicy/xgboost": (2, 2),
    "mlPolicy/flux": (2, 2),
    "mlPolicy/torch/envInjection": (2, 3),
}
LEGACY: dict[str, Release] = {"nprocPerNode": (1, 7), "runPolicy/managedBy": (1, 9)}


@rule(
    code="KF026",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.0.0, v2.1.0, v2.2.0 and v2.3.0 pkg/apis/trainer/v1alpha1: trainjob_types.go and "
        "trainingruntime_types.go",
        "kubeflow/training-operator pkg/apis/kubeflow.org/v1: pytorch_types.go at v1.6.0 and v1.7.0, common_types.go "
        "and jax_types.go at v1.8.1 and v1.9.0",
    ),
)
def field_newer_than_target(run: Run, context: Context) -> Iterator[Problem]:
    """Report a field that the target does not have yet."""
    version = context.target.trainer
    if not version:
        return
    release = ".".join(str(part) for part in version)
    if run.kind == "JAXJob" and version[0] == 1 and before(version, (1, 9)):
        message = f"the training operator {release} has no JAXJob; it was added in 1.9"
        yield Problem(run.at.child("kind"), message, "upgrade the operator to 1.9")
        return
    for path, first in _fields(run, version[0]).items():
        if before(version, first):
            for at in _found(run.spec, path.split("/"), run.at.child("spec")):
                since = ".".join(str(part) for part in first)
                field = path.rsplit("/", 1)[-1]
                yield Problem(
                    at.key(), f"release {release} has no {field} here; it was added in {since}", f"upgrade to {since}"
                )


def _fields(run: Run, major: int) -> dict[str, Release]:
    if run.kind in REPLICA_FIELDS and run.api_version == "kubeflow.org/v1":
        return LEGACY if major == 1 else {}
    if major < 2:
        return {}
    return TRAIN_JOB if run.kind == "TrainJob" else RUNTIME if run.kind in RUNTIMES else {}


def _found(tree: Any, path: list[str], at: Place) -> Iterator[Place]:
    if not path:
        yield at
    elif path[0] == "*":
        for index, item in enumerate(tree if isinstance(tree, list) else ()):
            yield from _found(item, path[1:], at.child(index))
    elif isinstance(tree, dict) and path[0] in tree:
        yield from _found(tree[path[0]], path[1:], at.child(path[0]))
