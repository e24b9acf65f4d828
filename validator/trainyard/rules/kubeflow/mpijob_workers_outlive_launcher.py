"""The workers of the MPIJob keep their GPUs after the launcher has ended, because nothing cleans them up.

The workers run `sshd`, which never ends. When the launcher completes or fails, the mpi-operator deletes the workers if
`cleanPodPolicy` is `Running` or `All`. Its default is `None`: they run on until somebody deletes the job, or until
`ttlSecondsAfterFinished` is over.

The rule leaves out jobs without GPUs, and those that are deleted within an hour.

Write `cleanPodPolicy: Running` under `runPolicy`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run

_HOUR = 3600


@rule(
    code="KF057",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/mpi-operator 0b32af39 pkg/apis/kubeflow/v2beta1/default.go: setDefaultsRunPolicy, CleanPodPolicyNone",
        "github.com/kubeflow/mpi-operator issues 134 and 293",
    ),
    needs=("MPIJob",),
)
def mpijob_workers_outlive_launcher(run: Run) -> Iterator[Problem]:
    """Report workers with GPUs that stay when the launcher has ended."""
    worker = run.role("Worker")
    # A policy directly under `spec` has a rule of its own.
    if not is_mpi_operator(run) or worker is None or "cleanPodPolicy" in run.spec:
        return
    policy = mapping(run.spec, "runPolicy")
    seconds = integer(policy, "ttlSecondsAfterFinished")
    told = policy.get("cleanPodPolicy")
    gpus = worker.container.gpus if worker.container is not None else 0
    if not gpus or told not in (None, "None", "") or (seconds is not None and seconds <= _HOUR):
        return
    at = run.at.child("spec", "runPolicy")
    yield Problem(
        at.child("cleanPodPolicy") if told is not None else at.key(),
        f"the workers keep {gpus} GPUs each when the launcher has ended: cleanPodPolicy is None",
        "write `cleanPodPolicy: Running` under runPolicy",
    )
