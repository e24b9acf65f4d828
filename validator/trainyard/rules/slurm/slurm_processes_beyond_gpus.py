"""A launcher starts more processes on a node than the batch script asks GPUs for.

Slurm hides the other GPUs of a node from the job. torchrun with `--nproc-per-node=8` under `--gres=gpu:4` starts eight
processes, and those from the fifth on fail with `invalid device ordinal`. On a cluster that does not hide them, the
processes take the GPUs of other jobs.

The rule compares numbers, in `--gres`, `--gpus-per-node` and `--gpus`. It leaves out scripts that ask for no GPU,
programs that are told to work on CPUs or with gloo, and steps of srun with a number of their own.

Write the same number in both places, or `--nproc-per-node="$SLURM_GPUS_ON_NODE"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, NODES, Batch, Step, batches, node_count, steps
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_GPUS = re.compile(r"(?:gres/)?gpu(?::[A-Za-z][\w.-]*)?:(\d+)")
_NUMBER = re.compile(r"(?:[A-Za-z][\w.-]*:)?(\d+)")
_CPU = ("cpu", "gloo")
_OF_STEP = re.compile(r"--(?:gres|gpus)\b|-G\b|--overcommit|--oversubscribe")


@rule(
    code="SL007",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: --gres, --gpus-per-node, --gpus",
        "slurm.schedmd.com/gres.html: CUDA_VISIBLE_DEVICES",
        "pytorch 2.15.0 torch/distributed/run.py: --nproc-per-node, LOCAL_RANK",
    ),
    needs=(MARK,),
)
def slurm_processes_beyond_gpus(container: Container) -> Iterator[Problem]:
    """Report processes without a GPU."""
    for batch in batches(container):
        gpus = _gpus(batch)
        for step in steps(batch, container) if gpus else ():
            started = _processes(step, batch)
            if gpus and started and started > gpus and not _has_own(step, container):
                shown = f"{gpus} GPUs" if gpus > 1 else "one GPU"
                yield Problem(
                    step.at,
                    f"the launcher starts {started} processes on each node, and the script asks for {shown} of it",
                    "write the same number in both places",
                )


def _gpus(batch: Batch) -> int | None:
    found = _GPUS.search(batch.option("--gres") or "") or _NUMBER.fullmatch(batch.option("--gpus-per-node") or "")
    if found is not None:
        return int(found[1])
    total = decimal(batch.option("--gpus") or batch.option("-G") or "")
    return total // batch.nodes if total and batch.nodes and total % batch.nodes == 0 else None


def _processes(step: Step, batch: Batch) -> int | None:
    launcher = step.launcher
    if launcher is None or launcher.is_mpi or (step.tasks_per_node or 1) > 1 or _is_of_cpu(step):
        return None
    told = decimal(step.command.option(*launcher.per_node, *launcher.total) or "")
    if not told or not launcher.total:
        return told
    count, text = node_count(step)
    nodes = batch.nodes if text.strip("${}") in NODES else count if text else 1
    return told // nodes if nodes else None


def _is_of_cpu(step: Step) -> bool:
    return step.command.has("--cpu") or any(
        word.partition("=")[2] in _CPU or word in _CPU for word in step.command.words
    )


def _has_own(step: Step, container: Container) -> bool:
    """True if srun asks for GPUs of its own, in front of this launcher."""
    commands = (one for one in container.commands if one.at.line == step.at.line)
    return any(_OF_STEP.match(word) for one in commands if one.program == SRUN for word in one.words)
