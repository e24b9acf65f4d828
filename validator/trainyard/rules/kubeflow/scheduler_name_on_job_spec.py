"""schedulerName stands in the job's spec, where it is unknown: the pods go to the default scheduler.

A job of `kubeflow.org` has no `schedulerName` of its own, neither in `spec` nor in `runPolicy`. `kubectl apply`
refuses the field; a client that does not ask for validation gets a warning at most, and the API server drops it. The
pods are then placed one by one by the default scheduler, without gang, queue or topology, and a large job may hold
half of its GPUs and wait for the rest. The field belongs to each pod, so it stands in `template.spec` of every role.

Where the operator runs with `--gang-scheduler-name` it sets the scheduler of pods that name none.

Move the field into the pod template of every role.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import mapping
from validator.model import Run
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Add, Edit, Problem, Remove, rule
from validator.source import Place

FIELD = "schedulerName"


@rule(
    code="KF023",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1: no spec of a job has schedulerName; "
        "manifests/base/crds: no spec of a job keeps unknown fields",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/v2beta1/types.go: MPIJobSpec, RunPolicy",
    ),
    fix="unsafe",
    needs=("schedulerName",),
)
def scheduler_name_on_job_spec(run: Run) -> Iterator[Problem]:
    """A scheduler's name where no operator looks for it."""
    if run.kind not in REPLICA_FIELDS:
        return
    spec = run.at.child("spec")
    places = ((run.spec, spec, "spec"), (mapping(run.spec, "runPolicy"), spec.child("runPolicy"), "runPolicy"))
    for tree, at, where in places:
        name = tree.get(FIELD)
        if isinstance(name, str):
            yield Problem(
                at.child(FIELD),
                f"a {run.kind} has no {FIELD} in {where}: the pods do not go to `{name}`",
                "write it in template.spec of every role",
                tuple(_moved(run, at, name)),
            )


def _moved(run: Run, at: Place, name: str) -> Iterator[Edit]:
    for role in run.roles:
        if FIELD not in role.pod.tree:
            yield Add(role.pod.at, FIELD, name)
    yield Remove(at.child(FIELD))
