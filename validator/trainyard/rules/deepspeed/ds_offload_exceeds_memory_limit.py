"""The optimizer states that DeepSpeed offloads to the host exceed the memory limit, so the container is killed.

With `offload_optimizer` on `cpu`, the host holds the weights in fp32 and both moments of Adam: 12 bytes for each
parameter, divided between all processes. With `offload_param` on `cpu`, it also holds the parameters in 16 bits: 14
bytes. These pages count toward the memory limit, and pinned ones cannot be reclaimed. The gradients of a step and
buffers take more. DeepSpeed's own estimates are 16 and 18 bytes, times 1.5 for buffers.

On a node with cgroup v2, the kernel kills all processes of a container that exceeds its limit. torchrun ends with them,
so its `--max-restarts` does not help. The kubelet's `singleProcessOOMKill` restores the kill of one process.

The rule takes the number of parameters from the name of the model, as in `--model_name_or_path=org/llama-2-70b`, or
from `--num-layers` and `--hidden-size`. It reports nothing if the command trains a part of the weights, such as LoRA.

Raise the memory limit, use more nodes, or offload to `nvme`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.shared_memory import memory_limit
from trainyard.analysis.resources.trained_model import STATE_BYTES, gibibytes, state_bytes, trained_model
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import finite_number
from trainyard.facts.programs.deepspeed import stage
from trainyard.model.run import DeepSpeed

# The only optimizers with two moments for each parameter that DeepSpeed runs on the host.
ADAM = ("", "adam", "adamw")
SMALL = ("bf16_master_weights_and_grads", "bf16_optimizer_states", "fp16_master_weights_and_grads")
# Parameters in 16 bits.
PARAMETER_BYTES = 2
PARAMETER_STAGE = 3


@rule(
    code="DS023",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 runtime/zero/stage3.py: estimate_zero3_model_states_mem_needs; "
        "stage_1_and_2.py: estimate_zero2_model_states_mem_needs",
        "kubernetes/kubernetes v1.34.4 pkg/kubelet/kuberuntime/kuberuntime_container_linux.go: memory.oom.group; "
        "pull request 117793",
    ),
    needs=("offload_optimizer",),
)
def ds_offload_exceeds_memory_limit(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report offloaded states that are larger than the memory limit."""
    if context.run is None:
        return
    share = _bytes_for_each_parameter(deepspeed) / STATE_BYTES
    for role in context.run.training_roles if share else ():
        limit = memory_limit(role.pod, role.container) if role.container is not None else None
        if role.container is None or limit is None:
            continue
        model = trained_model(role.pod, role.container, context.run, context.project)
        states = state_bytes(model, context.run) if model is not None else None
        if model is None or states is None or states * share <= limit[0]:
            continue
        yield Problem(
            deepspeed.at.child("zero_optimization", "offload_optimizer").key(),
            f"the offloaded states of {model.parameters / 1e9:.0f} billion parameters take at least "
            f"{gibibytes(states * share)} on each node, but the memory limit is {limit[1]}: the container is killed",
            "raise the limit, use more nodes, or offload to `nvme`",
            related=(
                (model.at, "the size of the model"),
                (quantity_at(context.run, role, role.container, "limits", "memory"), "the limit"),
            ),
        )
        return


def _bytes_for_each_parameter(deepspeed: DeepSpeed) -> float:
    """Returns the bytes on the host, 0 if the states are not there or their type is not known."""
    config = deepspeed.config
    zero_stage = stage(config) or 0
    optimizer = mapping(config, "zero_optimization", "offload_optimizer")
    kind = text(config, "optimizer", "type").lower()
    small = any(mapping(config, section).get(key) is True for section in ("bf16", "fp16") for key in SMALL)
    if zero_stage < 1 or optimizer.get("device") != "cpu" or kind not in ADAM or small:
        return 0
    ratio = finite_number(optimizer.get("ratio"))
    size = STATE_BYTES * (ratio if ratio is not None and zero_stage == PARAMETER_STAGE else 1)
    offloads = mapping(config, "zero_optimization", "offload_param").get("device") == "cpu"
    return size + PARAMETER_BYTES * (offloads and zero_stage == PARAMETER_STAGE)
