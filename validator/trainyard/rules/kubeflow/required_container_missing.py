"""The operator looks for a container by its name, and a job without that container is refused.

The training operator puts its variables, its port and its readiness into the container called `pytorch` (PyTorchJob),
`tensorflow` (TFJob), `xgboost`, `paddle` or `jax`; its admission webhook refuses a role that has no such container.
In a TrainingRuntime the container of the step `trainer` has to be called `node`, and those of the initializers
`dataset-initializer` and `model-initializer`: TrainJobs replace image, command and variables only there. Names such
as `main` or `trainer` come over from Deployments and are the usual cause.

An MPIJob has no such name: its operators take whatever containers there are.

Rename the container that trains; helpers beside it keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import ANCESTOR, RUNTIMES, STEP_CONTAINERS, WITH_SERVICES
from validator.fields import items, mapping, text
from validator.model import Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Problem, SetValue, rule
from validator.source import Place


@rule(
    code="KF002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/webhooks: validate*ReplicaSpecs of each kind but MPIJob",
        "kubeflow/trainer v2.1.0 pkg/webhooks/trainingruntime_webhook.go: validateReplicatedJobs",
    ),
    fix="unsafe",
)
def required_container_missing(run: Run) -> Iterator[Problem]:
    """A role without the container that its operator looks for."""
    for wanted, containers, at in _expectations(run):
        names = [text(container, "name") for container in containers]
        if not containers or wanted in names:
            continue
        alone = len(containers) == 1 and bool(names[0])
        place = at.child(0, "name") if alone else at
        yield Problem(
            place,
            f"a {run.kind} needs a container called `{wanted}` here, and there is only {_listed(names)}",
            f"call the container that trains `{wanted}`",
            (SetValue(place, wanted),) if alone else (),
        )


def _expectations(run: Run) -> Iterator[tuple[str, list[object], Place]]:
    if run.kind in WITH_SERVICES:
        for role in run.roles:
            yield REPLICA_FIELDS[run.kind][1], items(role.pod.tree, "containers"), role.pod.at.child("containers")
    elif run.kind in RUNTIMES:
        at = run.at.child("spec", "template", "spec", "replicatedJobs")
        for index, job in enumerate(items(run.spec, "template", "spec", "replicatedJobs")):
            wanted = STEP_CONTAINERS.get(text(job, "template", "metadata", "labels", ANCESTOR))
            if wanted is not None:
                spec = mapping(job, "template", "spec", "template", "spec")
                place = at.child(index, "template", "spec", "template", "spec", "containers")
                yield wanted, items(spec, "containers"), place


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names if name) or "one without a name"
