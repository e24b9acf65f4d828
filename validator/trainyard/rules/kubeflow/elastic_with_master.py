"""The Master of an elastic PyTorchJob is one pod more than the rendezvous admits.

The operator passes `PET_NNODES=<minReplicas>:<maxReplicas>`, which are bounds for the Workers, to every pod, the
Master included. With as many Workers as `maxReplicas`, the rendezvous is full before the last pod arrives. One pod,
not always the same one, waits until its timeout and exits while the others train. If that pod is the Master, the job
cannot succeed although the training does, because the Master decides the result of the job.

The rule skips a range that leaves room for the Master.

Remove the Master and make all pods Workers: torchrun needs no Master, because the rendezvous runs on `<job>-worker-0`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import elastic_range
from trainyard.document.document import Remove
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


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
    """Report a Master that does not fit into the elastic range."""
    master, worker = run.role("Master"), run.role("Worker")
    if run.kind != "PyTorchJob" or run.elastic is None or master is None or worker is None:
        return
    _, most = elastic_range(run)
    if most is None or worker.replicas is None or worker.replicas + 1 <= most:
        return
    yield Problem(
        master.at.key(),
        f"{worker.replicas} Workers and the Master are {worker.replicas + 1} pods, but torchrun admits at most {most}",
        "remove Master: an elastic job needs only Workers",
        (Remove(master.at),),
        ((worker.at.child("replicas"), f"{worker.replicas} Workers"),),
    )
