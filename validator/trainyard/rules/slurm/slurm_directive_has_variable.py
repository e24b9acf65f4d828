"""A directive for sbatch contains a variable, which Slurm does not replace.

sbatch reads the `#SBATCH` lines before any shell runs the script. `--nodes=$NUM_NODES` is no number to it, so it
refuses the job. A path such as `$LOG_DIR/%j.out` is taken as it is written, and the job fails to open its output, or
creates a folder with a dollar sign. Slurm replaces patterns such as `%j` and `%x` only.

Write the value, or pass it on the command line: `sbatch --nodes="$NUM_NODES" train.sbatch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, batches
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_SIGN = re.compile(r"\$[{(]?\w[^\s/]*|`[^`]*`")


@rule(
    code="SL001",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: directives are read before the script runs; filename pattern",
        "github.com/axolotl-ai-cloud/axolotl pull 3038",
    ),
    needs=(MARK,),
)
def slurm_directive_has_variable(container: Container) -> Iterator[Problem]:
    """Report variables in directives."""
    for batch in batches(container):
        lines = batch.script.text.split("\n")
        for number in sorted({one.line for one in batch.directives}):
            line = re.sub(r"\s#.*", "", lines[number])
            found = _SIGN.search(line)
            if found is not None and "{{" not in line:
                yield Problem(
                    batch.script.at.word(number, found.group()),
                    f"Slurm does not replace `{found.group()}` in a directive: it reads the line before any shell",
                    "write the value, or pass the option to sbatch on the command line",
                )
