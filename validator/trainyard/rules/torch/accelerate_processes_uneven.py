"""`--num_processes` of accelerate does not fit `--num_machines`, so some GPUs stay idle or the launch hangs.

accelerate starts `num_processes // num_machines` processes on each machine. Of 8 processes on 3 machines, it starts 2
on each, 6 in all. Machines that count other numbers, from their GPUs, wait for ranks that never come.

It counts the ranks of all machines. The GPUs of one machine, as 8 on 4 machines with 8 GPUs each, are 2 on each.

The numbers are those of the options, or of the file that `--config_file` names.

Write a number that is a multiple: the GPUs of one machine times the machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.accelerate_config import config_of, count_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD034",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: num_processes // num_machines",
        "github.com/huggingface/accelerate issues 1291 and 2521; github.com/huggingface/open-r1 issue 353",
    ),
    needs=("num_machines", "num-machines"),
)
def accelerate_processes_uneven(container: Container, context: Context) -> Iterator[Problem]:
    """Report numbers of processes that the machines cannot share."""
    for launch in accelerate_commands(container):
        config = config_of(launch, context.project)
        processes = count_of(launch, "num_processes", config)
        machines = count_of(launch, "num_machines", config)
        told = launch.option_at("--num-processes") or launch.option_at("--num-machines")
        at = told[1] if told is not None else config.at.child("num_processes") if config is not None else None
        if at is None or not processes or not machines or processes < machines:
            continue
        each = processes // machines
        if processes % machines == 0:
            if processes == container.gpus > each and not launch.has("--cpu") and not _hides_gpus(container):
                message = (
                    f"num_processes={processes} counts the ranks of all {machines} machines: each starts {each} of "
                )
                advice = f"write {machines * container.gpus}, the GPUs of all machines"
                yield Problem(at, f"{message}{container.gpus}, and the other GPUs stay idle", advice)
            continue
        yield Problem(
            at,
            f"num_processes={processes} on {machines} machines: accelerate starts {each} on each, and drops the rest",
            f"write a multiple of {machines}, such as {machines * max(each, 1)}",
        )


def _hides_gpus(container: Container) -> bool:
    return container.setting("CUDA_VISIBLE_DEVICES") is not None
