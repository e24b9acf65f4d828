"""`--num_processes` of accelerate is no multiple of `--num_machines`, so some GPUs stay idle or the launch hangs.

accelerate starts `num_processes // num_machines` processes on each machine. Of 8 processes on 3 machines, it starts 2
on each, 6 in all. Machines that count other numbers, from their GPUs, wait for ranks that never come.

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
        "github.com/huggingface/accelerate issue 1291; github.com/huggingface/open-r1 issue 353",
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
        if at is None or not processes or not machines or processes < machines or processes % machines == 0:
            continue
        each = processes // machines
        yield Problem(
            at,
            f"num_processes={processes} on {machines} machines: accelerate starts {each} on each, and drops the rest",
            f"write a multiple of {machines}, such as {machines * max(each, 1)}",
        )
