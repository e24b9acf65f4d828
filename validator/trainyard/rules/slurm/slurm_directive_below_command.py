"""A directive for sbatch stands below the first command, where Slurm does not read it.

sbatch stops at the first line that is neither empty nor a comment. A `#SBATCH` line behind `set -e` or `export` is a
comment like any other: the job gets the defaults of the partition, such as one node, no GPU or a short time limit, and
nothing tells so.

The rule leaves out directives in a here-document, and scripts that run `sbatch`: they write the text of other scripts.

Move the line above the first command.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, batches
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container


@rule(
    code="SL002",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=("slurm.schedmd.com/sbatch.html: sbatch stops processing directives at the first other line",),
    needs=(MARK,),
)
def slurm_directive_below_command(container: Container) -> Iterator[Problem]:
    """Report directives that sbatch does not read."""
    for batch in batches(container):
        lines = batch.script.text.split("\n")
        for number in batch.ignored:
            yield Problem(
                batch.script.at.below(number),
                f"sbatch does not read `{lines[number].strip()}`: it stops at the first command",
                "move the line above the first command",
            )
