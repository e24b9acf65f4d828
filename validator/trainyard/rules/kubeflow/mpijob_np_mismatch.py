"""mpirun is asked for more processes than the MPIJob has slots, so it stops before it starts one.

The operator writes a hostfile in which every worker has `slotsPerWorker` slots, 1 when the field is left out. The
launcher is in it only with `runLauncherAsWorker: true` (v2beta1), or when it asks for GPUs itself (v1). Open MPI
refuses to start more processes than there are slots: the launcher fails with "There are not enough slots available in
the system" after all workers have come up. Fewer processes than slots are allowed and left alone, and so are
`--oversubscribe`, an own host list, Intel MPI and MPICH.

Let `-np` be `slotsPerWorker` times the workers, or leave it out: mpirun then fills all slots.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import is_mpi_operator
from validator.fields import decimal, whole
from validator.model import Command, Run
from validator.rule import Problem, rule
from validator.source import Place

PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
COUNT = ("-np", "--np", "-n", "--n")
OWN_HOSTS = ("-H", "--host", "-host", "--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile")


@rule(
    code="KF011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go: newConfigMap writes the hostfile",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/mpi/mpijob_controller.go: newConfigMap",
        "docs.open-mpi.org v5.0 launching-apps/scheduling: slots and oversubscription",
    ),
    needs=("MPIJob",),
)
def mpijob_np_mismatch(run: Run) -> Iterator[Problem]:
    """More processes than slots."""
    launcher = run.role("Launcher")
    slots = _slots(run)
    if launcher is None or launcher.container is None or slots is None:
        return
    if any("oversubscribe" in setting.name for setting in launcher.container.settings):
        return
    for command in launcher.container.commands:
        asked = _asked(command)
        if asked is not None and asked[0] > slots:
            yield Problem(
                asked[1],
                f"mpirun is asked for {asked[0]} processes, and the hostfile has {slots} slots",
                f"write {slots}, or set slotsPerWorker and Worker.replicas so that they multiply to {asked[0]}",
                related=((run.at.child("spec", "slotsPerWorker"), "slots of each worker, 1 unless written"),),
            )


def _slots(run: Run) -> int | None:
    if run.kind != "MPIJob" or run.spec.get("mpiImplementation") not in (None, "OpenMPI"):
        return None
    each = 1 if run.spec.get("slotsPerWorker") is None else whole(run.spec, "slotsPerWorker")
    worker, launcher = run.role("Worker"), run.role("Launcher")
    hosts = worker.replicas if worker is not None else 0
    if each is None or not hosts or launcher is None:
        return None
    if is_mpi_operator(run):
        counted = run.spec.get("runLauncherAsWorker") is True
    else:
        counted = any(container.gpus for container in launcher.pod.containers)
    return each * (hosts + counted)


def _asked(command: Command) -> tuple[int, Place] | None:
    words = command.words
    if command.program not in PROGRAMS or ":" in words or any("oversubscribe" in word.lower() for word in words):
        return None
    # The program behind mpirun has options of its own: only the first count is mpirun's.
    index = next((n for n, word in enumerate(words) if word in COUNT), len(words))
    asked = decimal(words[index + 1]) if index + 1 < len(words) else None
    if asked is None or any(word in OWN_HOSTS for word in words):
        return None
    return asked, command.word_at[index + 1]
