"""The program waits for another number of nodes than the batch script asks Slurm for.

Slurm starts the tasks on the nodes of `#SBATCH --nodes`, or on one without it. torchrun's `--nnodes`,
`--num_machines` of `accelerate launch` and `num_nodes` of Lightning must be the same number. With more, the ranks wait
for nodes that never come, until the rendezvous times out. With fewer, the further nodes hold their GPUs for nothing,
or are refused.

The rule compares numbers only, in commands that srun starts. The number of all tasks is right too, with one launcher
for each task. Without `--nodes` it looks at scripts that ask for tasks or GPUs on each node, unless a comment shows
the command for `sbatch`, which may have the option.

Write `--nnodes="$SLURM_NNODES"`, or the same number in both places.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, Batch, Step, batches, node_count, steps
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_PER_NODE = ("--ntasks-per-node", "--gres", "--gpus-per-node")
_TOLD = ("--nodes", "--ntasks", "--nodelist", "--nodefile")


@rule(
    code="SL006",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: --nodes",
        "lightning.ai/docs/pytorch: clouds/cluster_advanced, num_nodes has to match --nodes",
        "github.com/Lightning-AI/pytorch-lightning issue 10098",
    ),
    needs=(MARK,),
)
def slurm_nodes_differ(container: Container) -> Iterator[Problem]:
    """Report numbers of nodes that contradict each other."""
    for batch in batches(container):
        for step in steps(batch, container):
            wanted, _ = node_count(step)
            given = _given(batch, step) if step.of_srun else None
            # With one launcher for each task, a task counts as a node.
            if wanted is None or wanted < 2 or given is None or wanted in (given, given * (step.tasks_per_node or 1)):
                continue
            said = f"{given} nodes" if given > 1 else "one node"
            told = "" if step.nodes else ", because no directive says `--nodes`"
            yield Problem(
                step.at,
                f"the program waits for {wanted} nodes, and Slurm starts it on {said}{told}",
                "write the same number in both places, or `$SLURM_NNODES`",
            )


def _given(batch: Batch, step: Step) -> int | None:
    if step.nodes is not None:
        return step.nodes
    # A comment may show how to submit the script: `sbatch --nodes=4 train.sbatch`.
    if any(batch.option(name) is not None for name in _TOLD) or "sbatch " in batch.script.text:
        return None
    return 1 if any(batch.option(name) is not None for name in _PER_NODE) else None
