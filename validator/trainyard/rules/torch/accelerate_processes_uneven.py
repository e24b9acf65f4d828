"""`--num_processes` of accelerate is no multiple of `--num_machines`, so some GPUs stay idle or the launch hangs.

accelerate starts `num_processes // num_machines` processes on each machine. Of 8 processes on 3 machines, it starts 2
on each, 6 in all. Machines that count other numbers, from their GPUs, wait for ranks that never come.

Write a number that is a multiple: the GPUs of one machine times the machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD034",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: num_processes // num_machines",
        "github.com/huggingface/accelerate issue 1291",
    ),
    needs=("num_machines", "num-machines"),
)
def accelerate_processes_uneven(container: Container) -> Iterator[Problem]:
    """Report numbers of processes that the machines cannot share."""
    for launch in accelerate_commands(container):
        told = launch.option_at("--num-processes")
        processes = decimal(told[0]) if told is not None else None
        machines = decimal(launch.option("--num-machines") or "")
        if told is None or not processes or not machines or processes % machines == 0:
            continue
        each = processes // machines
        yield Problem(
            told[1],
            f"num_processes={processes} on {machines} machines: accelerate starts {each} on each, and drops the rest",
            f"write a multiple of {machines}, such as {machines * max(each, 1)}",
        )
