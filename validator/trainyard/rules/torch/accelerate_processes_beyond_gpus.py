"""Accelerate starts more processes on a machine than the machine has GPUs for them.

`num_processes` counts the processes of all machines, and each machine starts `num_processes // num_machines`, also
those with fewer GPUs. Each process uses the GPU of its local rank: the extra ones end with `invalid device ordinal`.
`gpu_ids` names the GPUs of the machine; without it, the rule counts those that the container requests.

Write `num_processes` as the machines times the GPUs of the smallest one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.accelerate_config import accelerate_configs, config_of, count_of
from trainyard.document.lookup import integer, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Project

_MIG = "nvidia.com/mig-"


@rule(
    code="TD053",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: num_processes // num_machines",
        "github.com/huggingface/accelerate issue 3894",
    ),
    needs=("num_processes", "num-processes"),
)
def accelerate_processes_beyond_gpus(project: Project) -> Iterator[Problem]:
    """Report more processes on a machine than GPUs."""
    for config in accelerate_configs(project):
        processes, machines = integer(config.tree, "num_processes"), integer(config.tree, "num_machines")
        listed = _listed(str(config.tree.get("gpu_ids") or ""))
        each = (processes or 0) // max(machines or 1, 1)
        if listed and each > listed and text(config.tree, "distributed_type") not in ("NO", "MULTI_CPU"):
            yield Problem(
                config.at.child("num_processes"),
                f"num_processes={processes} on {machines or 1} machines is {each} on each, and `gpu_ids` has {listed}",
                f"write {listed * max(machines or 1, 1)}, if all machines have as many GPUs",
            )
    for run in project.runs:
        for role in run.training_roles:
            if role.container is not None and not _is_unclear(role.container):
                yield from _of_container(role.container, project)


def _of_container(container: Container, project: Project) -> Iterator[Problem]:
    for launch in accelerate_commands(container):
        given = launch.option_at("--num-processes")
        config = config_of(launch, project)
        if given is None or launch.has("--cpu", "--tpu"):
            continue
        processes = count_of(launch, "num_processes", config)
        machines = count_of(launch, "num_machines", config) if launch.has("--num-machines") or config else 1
        ids = launch.option("--gpu-ids")
        gpus = _listed(ids) if ids is not None else container.gpus
        if processes is None or not machines or not gpus or processes // machines <= gpus:
            continue
        each = processes // machines
        shared = f" on {machines} machines is {each} on each" if machines > 1 else ""
        yield Problem(
            given[1],
            f"num_processes={processes}{shared}, for {gpus} GPU{'s' * (gpus > 1)}: the extra processes have no device",
            f"write {gpus * machines}",
        )


def _listed(ids: str) -> int:
    """Returns the number of GPUs that a list names; zero if it does not tell."""
    parts = [part.strip() for part in ids.split(",")]
    return len(parts) if all(part.isdecimal() for part in parts) else 0


def _is_unclear(container: Container) -> bool:
    mig = any(name.startswith(_MIG) for name in {*container.limits, *container.requests})
    return mig or container.setting("CUDA_VISIBLE_DEVICES") is not None
