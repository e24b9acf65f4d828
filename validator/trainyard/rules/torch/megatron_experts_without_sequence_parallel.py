"""A mixture of experts with tensor parallelism lacks `--sequence-parallel`, so each token is sent several times.

The tensor-parallel ranks of Megatron Core hold the same tokens unless `--sequence-parallel` splits the sequence. Their
layer of experts then sends each token once for each rank. Releases until 0.12 stop with "During training, performance
may degrade if MoE and tensor parallelism are enabled without also enabling sequence parallelism"; later ones warn.

The rule checks commands that start a `pretrain_*.py` and show all of their options.

Add `--sequence-parallel`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.megatron import is_repeated, megatron_command, shows_all_options, size_of
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_TENSOR, _EXPERTS, _SEQUENCE = "--tensor-model-parallel-size", "--num-experts", "--sequence-parallel"


@rule(
    code="TD072",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/Megatron-LM core_v0.12.0 megatron/core/transformer/moe/moe_layer.py: MoELayer.forward",
        "NVIDIA/Megatron-LM d98e8a64 megatron/core/model_parallel_config.py: sequence parallelism must be used",
        "github.com/NVIDIA/Megatron-LM issues 1587 and 1766",
    ),
    needs=("num-experts", "num_experts"),
)
def megatron_experts_without_sequence_parallel(container: Container) -> Iterator[Problem]:
    """Report experts under tensor parallelism alone."""
    command = megatron_command(container)
    if command is None or command.has(_SEQUENCE) or is_repeated(command, _TENSOR, _EXPERTS):
        return
    tensor, experts = size_of(command, container, _TENSOR), size_of(command, container, _EXPERTS)
    if tensor is None or tensor[0] < 2 or experts is None or not shows_all_options(command, container):
        return
    yield Problem(
        tensor[1],
        f"{experts[0]} experts with a tensor-parallel size of {tensor[0]} lack --sequence-parallel: Megatron sends "
        f"each token {tensor[0]} times, or stops",
        "add --sequence-parallel",
    )
