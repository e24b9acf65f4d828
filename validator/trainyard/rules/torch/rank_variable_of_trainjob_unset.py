"""The script of a TrainJob reads a variable that only torchrun or other operators set, so each node gets the default.

The training operator sets `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` in the pods of a PyTorchJob. Kubeflow
Trainer sets `PET_NODE_RANK`, `PET_NNODES`, `PET_MASTER_ADDR` and `PET_MASTER_PORT` instead; the short names exist only
in the processes that torchrun starts. A script with `${RANK:-0}` takes every node for the first and only one.

The rule checks shell scripts of TrainJobs under a torch runtime. It ignores variables that the TrainJob, its runtime or
the script sets.

Read the variables with `PET_`, or start the program through torchrun.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import has_torch_policy
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role
from trainyard.startup import pattern

PETS = {
    "RANK": "PET_NODE_RANK",
    "WORLD_SIZE": "PET_NNODES",
    "MASTER_ADDR": "PET_MASTER_ADDR",
    "MASTER_PORT": "PET_MASTER_PORT",
}
READ = pattern(rf"(?<!\\)\$\{{?({'|'.join(PETS)})\b")


@rule(
    code="TD027",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins/torch/torch.go: PET_ variables",
        "github.com/kubeflow/trainer pull 2925",
    ),
    needs=tuple(PETS),
)
def rank_variable_of_trainjob_unset(role: Role, context: Context) -> Iterator[Problem]:
    """Variables that Kubeflow Trainer does not set."""
    run, container = context.run, role.container
    if run is None or run.kind != "TrainJob" or container is None or not role.trains or not has_torch_policy(run):
        return
    # A program that torchrun starts has the variables, also a shell.
    if has_unknown_variables(container, context) or any(one.has("--no-python") for one in container.commands):
        return
    known = {setting.name for setting in container.settings}
    for script in container.scripts:
        for number, line in enumerate(script.text.split("\n")):
            for found in READ.finditer(line):
                name = found[1]
                if name in known or f"{name}=" in script.text or f"read {name}" in script.text:
                    continue
                known.add(name)
                yield Problem(
                    script.at.below(number),
                    f"Kubeflow Trainer sets {PETS[name]} and not {name}, which is empty or has its default here",
                    f"read {PETS[name]}, or start the program through torchrun",
                )
