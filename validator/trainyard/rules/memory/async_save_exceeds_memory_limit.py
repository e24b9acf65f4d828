"""A save in the background copies the states to host memory, which the memory limit is too small for.

An asynchronous save first copies what the processes of a pod write from their GPUs to the host, and then writes the
copy. That is 12 bytes for each parameter, divided between the pods: the weights and both moments of Adam in fp32. The
copies count toward the memory limit. Those in pinned memory cannot be reclaimed, and most programs keep them for the
next save.

On a node with cgroup v2, the kernel kills all processes of a container that exceeds its limit. torchrun ends with them,
so its `--max-restarts` does not help. The kubelet's `singleProcessOOMKill` restores the kill of one process. The
container comes back, resumes, and is killed again at its first save.

The rule knows torchtitan (`--checkpoint.async_mode`), Megatron-LM (`--async-save`) and the reference trainer. It takes
the number of parameters from `--num-layers` and `--hidden-size`, from the fields of the reference trainer, or from a
name such as `--model.flavor=70B`. It does not count embeddings, keys and values.

Raise the memory limit, use more pods, or save synchronously.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.shared_memory import memory_limit
from trainyard.analysis.resources.trained_model import TrainedModel, gibibytes, state_bytes, trained_model
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Role

TITAN = "--checkpoint.async-mode"
TITAN_MODES = ("async", "async_with_pinned_mem")
MEGATRON = "--async-save"
MODULE = "trainer"
# States that are not saved, or saved in fewer bits.
SMALLER = ("--no-save-optim", "--no-async-checkpoints")
SMALL_TYPES = ("bfloat16", "float16")


@rule(
    code="SH017",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/checkpoint/state_dict_saver.py: async_save; staging.py: DefaultStager",
        "NVIDIA/Megatron-LM megatron/core/dist_checkpointing/strategies/filesystem_async.py: preload_tensors",
        "the reference trainer on CPU: trainer/checkpoint/staging.py (seen)",
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kuberuntime/kuberuntime_container_linux.go: memory.oom.group; "
        "pull request 117793",
    ),
    needs=("async", "num_layers", "num-layers"),
)
def async_save_exceeds_memory_limit(role: Role, context: Context) -> Iterator[Problem]:
    """Report copies of an asynchronous save that are larger than the memory limit."""
    container = role.container
    limit = memory_limit(role.pod, container) if container is not None and role.trains else None
    # Without GPUs the states are in host memory anyway, and the container does not get as far as its first save.
    if container is None or limit is None or context.run is None or not container.gpus:
        return
    savers = [command for command in container.commands if _may_save(command)]
    model = trained_model(role.pod, container, context.run, context.project) if savers else None
    states = state_bytes(model, context.run) if model is not None else None
    if model is None or states is None or states <= limit[0] or not any(_saves(one, model) for one in savers):
        return
    yield Problem(
        quantity_at(context.run, role, container, "limits", "memory"),
        f"an asynchronous save of {model.parameters / 1e9:.0f} billion parameters copies {gibibytes(states)} to the "
        f"memory of each pod, whose limit is {limit[1]}: the container is killed",
        "raise the limit, use more pods, or save synchronously",
        related=((model.at, "the size of the model"),),
    )


def _may_save(command: Command) -> bool:
    if command.has(*SMALLER) or command.option("--training.dtype") in SMALL_TYPES:
        return False
    return command.option(TITAN) in TITAN_MODES or command.has(MEGATRON) or _is_trainer(command)


def _saves(command: Command, model: TrainedModel) -> bool:
    return not _is_trainer(command) or model.fields.get("async_checkpoints") is not False


def _is_trainer(command: Command) -> bool:
    return command.option("-m") == MODULE
