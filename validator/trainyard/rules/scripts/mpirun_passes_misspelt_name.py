"""`mpirun -x NAME` passes a variable on whose name is misspelt, so the ranks do not get the one that is meant.

With `-x NAME`, mpirun passes the launcher's own variable to the ranks. If the launcher has none of this name, Open MPI
prints a warning, and the ranks of other pods run without the variable: their programs find no library with
`-x LD_LIBARY_PATH`.

The rule compares the names with those of NCCL and of common libraries. It leaves out names that the container sets, and
those that differ in more than a letter or two.

Correct the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.nccl.registry import nccl_variables
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.facts.programs.library_variables import COMMON, KNOWN
from trainyard.model.run import Command

_ALIKE = 0.93
_SHORTEST = 9


@rule(
    code="SC105",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.open-mpi.org v5.0 man-openmpi/man1/mpirun.1: -x, exported environment variables",
        "facts/programs/library_variables.py and facts/nccl/registry.py: the sources of the names",
    ),
    needs=("-x",),
)
def mpirun_passes_misspelt_name(command: Command, context: Context) -> Iterator[Problem]:
    """Report names behind `-x` that resemble a well-known one."""
    if command.program not in MPI_LAUNCHERS:
        return
    container = context.container
    own = {one.name for one in container.settings} if container is not None else set()
    known = {*COMMON, *KNOWN, *nccl_variables()}
    for (option, name), at in zip(pairwise(command.words), command.word_at[1:], strict=True):
        if option != "-x" or len(name) < _SHORTEST or not name.isidentifier() or name in own:
            continue
        near = closest_match(name, known, _ALIKE) if name not in known else None
        if near is not None and near[:2] == name[:2] and near.startswith("NCCL_") == name.startswith("NCCL_"):
            message = f"the launcher has no variable `{name}`, so `-x {name}` passes nothing to the ranks"
            yield Problem(at, message, f"did you mean `{near}`?")
