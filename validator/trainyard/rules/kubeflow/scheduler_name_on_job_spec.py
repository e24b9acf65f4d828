"""schedulerName is unknown in the job's spec, so the pods go to the default scheduler.

A job of `kubeflow.org` has no `schedulerName`, neither in `spec` nor in `runPolicy`. `kubectl apply` rejects the
field; a client that does not ask for validation gets a warning at most, and the API server drops it. The default
scheduler then places the pods one by one, without gang, queue or topology, and a large job may hold half of its GPUs
while it waits for the rest. The field belongs to the pod, in `template.spec` of every role.

An operator that runs with `--gang-scheduler-name` sets the scheduler of pods that do not name one.

Move the field into the pod template of every role.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add, Edit, Place, Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Run

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
    """Report a schedulerName in a field that no operator reads."""
    if run.kind not in REPLICA_FIELDS:
        return
    spec = run.at.child("spec")
    places = ((run.spec, spec, "spec"), (mapping(run.spec, "runPolicy"), spec.child("runPolicy"), "runPolicy"))
    for tree, at, where in places:
        name = tree.get(FIELD)
        if isinstance(name, str):
            yield Problem(
                at.child(FIELD),
                f"a {run.kind} has no {FIELD} in {where}: `{name}` will not schedule the pods",
                "write it in template.spec of every role",
                tuple(_moved(run, at, name)),
            )


def _moved(run: Run, at: Place, name: str) -> Iterator[Edit]:
    for role in run.roles:
        if FIELD not in role.pod.tree:
            yield Add(role.pod.at, FIELD, name)
    yield Remove(at.child(FIELD))
