"""mpirun is asked for more processes than the MPIJob has slots, so it stops before it starts any.

The operator writes a hostfile in which every worker has `slotsPerWorker` slots, 1 by default. The launcher is in it
only with `runLauncherAsWorker: true` (v2beta1), or when it requests GPUs itself (v1). Open MPI refuses to start more
processes than there are slots: the launcher fails with "There are not enough slots available in the system" after all
workers have started. Fewer processes than slots are allowed. The rule also skips `--oversubscribe`, a custom host
list, Intel MPI and MPICH.

Set `-np` to `slotsPerWorker` times the number of workers, or leave it out: mpirun then uses all slots.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import is_mpi_operator
from trainyard.document.document import Place
from trainyard.document.lookup import decimal, integer
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS, MPI_PROGRAM
from trainyard.model.run import Command, Run

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
    """Report more processes than slots."""
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
                f"mpirun is asked for {asked[0]} processes, but the hostfile has {slots} slots",
                f"write {slots}, or make slotsPerWorker times Worker.replicas equal {asked[0]}",
                related=((run.at.child("spec", "slotsPerWorker"), "slots per worker (default 1)"),),
            )


def _slots(run: Run) -> int | None:
    if run.kind != "MPIJob" or run.spec.get("mpiImplementation") not in (None, "OpenMPI"):
        return None
    each = 1 if run.spec.get("slotsPerWorker") is None else integer(run.spec, "slotsPerWorker")
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
    if command.program not in MPI_LAUNCHERS or ":" in words or any("oversubscribe" in word.lower() for word in words):
        return None
    # The program that mpirun starts has its own options, so only the first count before it is mpirun's.
    own = itertools.takewhile(lambda word: not MPI_PROGRAM.fullmatch(word), words)
    index = next((n for n, word in enumerate(own) if word in COUNT), len(words))
    asked = decimal(words[index + 1]) if index + 1 < len(words) else None
    if asked is None or any(word in OWN_HOSTS for word in words):
        return None
    return asked, command.word_at[index + 1]
