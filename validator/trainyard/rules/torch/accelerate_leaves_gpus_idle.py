"""Accelerate starts fewer processes on a machine than the container has GPUs, and the others stay idle.

`num_processes` counts the processes of all machines, and each process trains on one GPU. The answers of
`accelerate config` on a machine with one GPU keep `num_processes: 1` everywhere.

The rule applies to files with several processes by their type (`MULTI_GPU`, `FSDP`, `DEEPSPEED`), and to
`--num_processes` above 1. It leaves out containers with a list of GPUs, with several starts, and with vLLM or GRPO,
where a model server has GPUs of its own. TD034 reports processes that are not the same on all machines.

Write `num_processes` as the machines times the GPUs of one, or request fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.accelerate_config import AccelerateConfig, config_of, count_of
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container, Project

_MIG = "nvidia.com/mig-"
TYPES = ("MULTI_GPU", "FSDP", "DEEPSPEED")
FLAGS = ("--multi-gpu", "--use-fsdp", "--use-deepspeed")
OTHERS = ("vllm", "sglang", "grpo")


@rule(
    code="TD106",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/launch.py: num_processes // num_machines",
        "github.com/huggingface/community-events pull 6",
    ),
    needs=("num_processes", "num-processes"),
)
def accelerate_leaves_gpus_idle(project: Project) -> Iterator[Problem]:
    """Report GPUs without a process."""
    for run in project.runs:
        for role in run.training_roles:
            if role.container is not None and role.container.gpus > 1 and not _is_unclear(role.container):
                yield from _of_container(role.container, project)


def _of_container(container: Container, project: Project) -> Iterator[Problem]:
    launches = list(accelerate_commands(container))
    if len(launches) != 1:
        return
    launch, config = launches[0], config_of(launches[0], project)
    at = _place(launch, config)
    listed = launch.has("--gpu-ids") or (config is not None and str(config.tree.get("gpu_ids") or "all") != "all")
    processes = count_of(launch, "num_processes", config)
    machines = count_of(launch, "num_machines", config) if launch.has("--num-machines") or config else 1
    if at is None or listed or launch.has("--cpu", "--tpu") or not processes or not machines:
        return
    each, rest = divmod(processes, machines)
    gpus = container.gpus
    typed = launch.has(*FLAGS) or (config is not None and text(config.tree, "distributed_type") in TYPES)
    # Without a type, one process may place its model on several GPUs.
    if rest == 0 and each < gpus and (typed or each > 1):
        yield Problem(
            at,
            f"num_processes={processes} starts {each} process{'es' * (each > 1)} for {gpus} GPUs: the others are idle",
            f"write {gpus * machines}, or request fewer GPUs",
        )


def _place(launch: Command, config: AccelerateConfig | None) -> Place | None:
    """Returns the place of the number of processes."""
    given = launch.option_at("--num-processes")
    if given is not None:
        return given[1]
    return config.at.child("num_processes") if config is not None else None


def _is_unclear(container: Container) -> bool:
    mig = any(name.startswith(_MIG) for name in {*container.limits, *container.requests})
    written = " ".join((*container.command, *container.args, *(script.text for script in container.scripts))).lower()
    return mig or container.setting("CUDA_VISIBLE_DEVICES") is not None or any(name in written for name in OTHERS)
