"""srun ignores its number of tasks on each node, because the job has another number of tasks.

`sbatch` tells each step the tasks of the job by `SLURM_NTASKS`, which counts as `--ntasks`. With
`srun --ntasks-per-node=1` alone in a job of eight tasks on each node the two disagree: srun warns that it "can't honor
--ntasks-per-node", and starts all tasks of the job. A launcher then runs eight times on each node, and the ranks
contend for ports and GPUs.

The rule compares the option of a step with the directives of its script, if the step starts a launcher or Python. It
leaves out steps with a number of nodes or of tasks of their own, which replace those of the job.

Add the number of nodes to the step: `srun --nodes="$SLURM_NNODES" --ntasks-per-node=1`. Or change the directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, batches, own_options
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_PER_NODE = "--ntasks-per-node"
# Other options that change the tasks or the nodes of the step.
_OTHERS = frozenset(("--nodes", "--ntasks", "--nodelist", "--jobid", "--ntasks-per-gpu", "--het-group"))
_OF_ALL = "SLURM_NTASKS"
_PROGRAM = re.compile(r"\b(?:torchrun|torch\.distributed|accelerate\s+launch|deepspeed|python3?)\b")


@rule(
    code="SL022",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/srun.html: --ntasks-per-node, SLURM_NTASKS",
        "slurm.schedmd.com/sbatch.html: SLURM_NTASKS",
        "github.com/NVIDIA/cloudai pull 729",
    ),
    needs=(MARK,),
)
def slurm_tasks_option_ignored(container: Container) -> Iterator[Problem]:
    """Report steps whose tasks on each node are not those of the job."""
    for batch in batches(container):
        of_job = batch.tasks_per_node
        if of_job is None or _OF_ALL in batch.script.text:
            continue
        for command in container.commands:
            own = own_options(command) if command.program == SRUN else {}
            told = decimal(own.get(_PER_NODE, ""))
            if told is None or told >= of_job or not _OTHERS.isdisjoint(own):
                continue
            if not _PROGRAM.search(" ".join(command.words)):
                continue
            yield Problem(
                command.at,
                f"srun ignores its `{_PER_NODE}={told}`, because the job has {of_job} tasks on each node: "
                f"it starts {of_job} there",
                f'write `srun --nodes="$SLURM_NNODES" {_PER_NODE}={told}`',
            )
