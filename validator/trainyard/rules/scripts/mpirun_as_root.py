"""mpirun of Open MPI runs as root without permission, and refuses to start.

Open MPI stops with "mpirun has detected an attempt to run as root" unless it has `--allow-run-as-root`, or both
variables `OMPI_ALLOW_RUN_AS_ROOT` and `OMPI_ALLOW_RUN_AS_ROOT_CONFIRM` are 1. In a container, root is the usual user.

The rule applies if `runAsUser` is 0. Intel MPI and MPICH accept root and do not know the option: the rule takes
options of Open MPI alone (`-x`, `--mca`), an MPIJob, and images with its name as signs.

Add `--allow-run-as-root`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.analysis.pods.users import user_of
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command, Container, Run

ALLOWED = "--allow-run-as-root"
VARIABLE = "OMPI_ALLOW_RUN_AS_ROOT"
# Options that other implementations do not have.
OPTIONS = ("-x", "--mca", "-mca", "--map-by", "-map-by", "--oversubscribe", "--report-bindings")
IMAGES = ("openmpi", "open-mpi", "ompi")


@rule(
    code="SC075",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "open-mpi/ompi v4.1 orte/tools/orterun/orterun.c: mpirun has detected an attempt to run as root",
        "github.com/FedML-AI/FedML issue 601",
    ),
    needs=MPI_LAUNCHERS,
)
def mpirun_as_root(container: Container, context: Context) -> Iterator[Problem]:
    """Report mpirun of root that is not allowed."""
    pod = context.pod
    if pod is None or user_of(container, pod)[0] != 0 or container.setting(VARIABLE) is not None:
        return
    for command in container.commands:
        known = command.program in MPI_LAUNCHERS and _is_open_mpi(command, container, context.run)
        if known and not command.has(ALLOWED) and not _has_unknown_options(command):
            yield Problem(
                command.at,
                f"{command.program} of Open MPI runs as root without `{ALLOWED}`, and refuses to start",
                f"add `{ALLOWED}`",
            )


def _has_unknown_options(command: Command) -> bool:
    """True if a variable that is no option's value may hold options."""
    return any(word.startswith("$") and not before.startswith("-") for before, word in pairwise(command.words))


def _is_open_mpi(command: Command, container: Container, run: Run | None) -> bool:
    if run is not None and run.kind == "MPIJob":
        return text(run.spec, "mpiImplementation") in ("", "OpenMPI")
    name = (container.image or "").lower()
    return any(option in command.words for option in OPTIONS) or any(sign in name for sign in IMAGES)
