"""The range of an elastic PyTorchJob counts Workers, so a Master beside them is one pod too many for the rendezvous.

The operator passes `PET_NNODES=<minReplicas>:<maxReplicas>` to every pod, the Master included. With as many Workers
as `maxReplicas` the rendezvous is full before the last pod arrives: one pod, and not always the same one, waits until
its timeout and exits while the others train. When that pod is the Master, the job cannot succeed although the
training does, because a job that has a Master is judged by it.

A range that leaves room for the Master is left alone.

Drop the Master and write all pods as Workers: torchrun needs none, the rendezvous runs on `<job>-worker-0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import elastic_range
from validator.model import Run
from validator.rule import Problem, Remove, rule


@rule(
    code="KF005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch: elastic.go (generateEnvNnodes), envvar.go",
        "kubeflow/trainer issue 2277",
    ),
    fix="unsafe",
    needs=("elasticPolicy",),
)
def elastic_with_master(run: Run) -> Iterator[Problem]:
    """A Master that does not fit into the range of Workers."""
    master, worker = run.role("Master"), run.role("Worker")
    if run.kind != "PyTorchJob" or run.elastic is None or master is None or worker is None:
        return
    _, most = elastic_range(run)
    if most is None or worker.replicas is None or worker.replicas + 1 <= most:
        return
    yield Problem(
        master.at.key(),
        f"{worker.replicas} Workers and the Master are {worker.replicas + 1} pods, and torchrun takes {most} at most",
        "remove Master: an elastic job needs Workers alone",
        (Remove(master.at),),
        ((worker.at.child("replicas"), f"{worker.replicas} Workers"),),
    )
