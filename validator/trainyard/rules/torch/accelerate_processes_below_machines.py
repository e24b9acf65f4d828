"""`num_processes` of accelerate is below `num_machines`, but it is the number of processes on all machines together.

accelerate starts `num_processes // num_machines` processes on each machine. With one process for two machines that is
none, and the launch fails or uses one GPU of each. The questionnaire of `accelerate config` asks for "total" processes,
which is easily taken for those of one machine.

Write the number of GPUs of all pods, such as 16 for two pods with eight GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs, launches
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="TD018",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: num_processes // num_machines",
        "github.com/huggingface/accelerate issues 218 and 2521",
    ),
    needs=("distributed_type",),
)
def accelerate_processes_below_machines(project: Project) -> Iterator[Problem]:
    """Fewer processes than machines."""
    for config in accelerate_configs(project):
        processes, machines = integer(config.tree, "num_processes"), integer(config.tree, "num_machines")
        if processes is None or machines is None or not 0 < processes < machines:
            continue
        if any(launch.has("--num-processes", "--num-machines") for _, launch in launches(config, project)):
            continue
        yield Problem(
            config.at.child("num_processes"),
            f"num_processes is the total of all machines: {processes} is less than one for each of {machines} machines",
            "write the number of GPUs of all machines together",
        )
