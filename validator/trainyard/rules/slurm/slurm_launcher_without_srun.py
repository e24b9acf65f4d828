"""The batch script starts a launcher for several nodes without srun, so it runs on the first node alone.

Slurm runs the batch script once, on the first node of the job. torchrun and `accelerate launch` start the processes of
their own node only, and wait for the launchers of the others, which nothing starts: the rendezvous times out while all
nodes are allocated.

The rule leaves out `deepspeed`, mpirun and horovodrun, which reach the other nodes themselves, launchers that ssh,
pdsh or a like program starts, and functions that the script exports for the shells of the tasks.

Write `srun` in front of the launcher, with one task on each node.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, NODES, Step, batches, node_count, steps
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_OF_ALL_NODES = ("--use-deepspeed", "--deepspeed-multinode-launcher", "--deepspeed-hostfile", "--config-file")
# The script starts itself, asks whether it runs as a task, or gives a function to the shells of the tasks.
_TASK = ("$0", "BASH_SOURCE", "SLURM_PROCID", "SLURM_LOCALID", "export -f", "declare -f")


@rule(
    code="SL004",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: the batch script runs on the first allocated node",
        "pytorch 2.15.0 torch/distributed/run.py: the same command on every node",
        "github.com/meta-llama/llama-cookbook issue 491",
    ),
    needs=(MARK,),
)
def slurm_launcher_without_srun(container: Container) -> Iterator[Problem]:
    """Report launchers that the other nodes lack."""
    for batch in batches(container):
        if (batch.nodes or 1) < 2 or any(word in batch.script.text for word in _TASK):
            continue
        for step in steps(batch, container):
            if step.of_srun or not _waits_for_others(step):
                continue
            yield Problem(
                step.at,
                f"the script runs on the first of {batch.nodes} nodes alone: the launcher waits for the others",
                "write `srun` in front of it, with `--ntasks-per-node=1`",
            )


def _waits_for_others(step: Step) -> bool:
    launcher = step.launcher
    if launcher is None or not (launcher.takes_torchrun or "--machine-rank" in launcher.valued):
        return False
    if step.command.has("--standalone", *_OF_ALL_NODES):
        return False
    count, told = node_count(step)
    return (count or 1) > 1 or told.strip("${}") in NODES
