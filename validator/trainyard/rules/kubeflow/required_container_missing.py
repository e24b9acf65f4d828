"""The operator looks up a container by name, and rejects a job without that container.

The training operator puts its variables, its port and its readiness into the container named `pytorch` (PyTorchJob),
`tensorflow` (TFJob), `xgboost`, `paddle` or `jax`; its admission webhook rejects a role without such a container. In a
TrainingRuntime the container of the step `trainer` must be named `node`, and those of the initializers
`dataset-initializer` and `model-initializer`: a TrainJob overrides image, command and variables only there. The usual
cause is a name such as `main` or `trainer`, carried over from a Deployment.

MPIJob has no required name: its operators use any container.

Rename the container that trains; other containers keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.kubeflow import ANCESTOR, REPLICA_FIELDS, RUNTIMES, STEP_CONTAINERS, WITH_SERVICES
from trainyard.model.run import Run


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
    """Report a role without the container that its operator looks up."""
    for wanted, containers, at in _expectations(run):
        names = [text(container, "name") for container in containers]
        if not containers or wanted in names:
            continue
        alone = len(names) == 1 and names != [""]
        place = at.child(0, "name") if alone else at
        yield Problem(
            place,
            f"a {run.kind} needs a container named `{wanted}` here, but has only {_listed(names)}",
            f"name the container that trains `{wanted}`",
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
    return format_list(f"`{name}`" for name in names if name) or "one without a name"
