"""Sizes of a Megatron model do not divide each other, so the ranks stop at start-up, or train a smaller model.

Megatron-LM splits the layers evenly: `--num-layers` is a multiple of the pipeline stages, and with an interleaved
schedule the layers of a stage are a multiple of its chunks. Some releases of Megatron Core did not check this and
dropped the layers that were left. The attention heads are a multiple of the tensor-parallel size. The global batch is a
multiple of the micro batch times the data-parallel ranks.

Stages of different sizes need `--decoder-first-pipeline-num-layers` and `--decoder-last-pipeline-num-layers`,
`--account-for-embedding-in-pipeline-split`, or a layout. The rule then leaves the layers alone. It checks commands that
start a `pretrain_*.py`, with the options in arrays of a script.

Write sizes that divide each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.megatron import Found, is_repeated, megatron_command, size_of
from trainyard.analysis.launchers.torchrun import node_range, processes_per_node, torchrun_commands
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Command, Container, Role

_LAYERS, _STAGES, _HEADS = "--num-layers", "--pipeline-model-parallel-size", "--num-attention-heads"
_TENSOR, _CONTEXT = "--tensor-model-parallel-size", "--context-parallel-size"
_CHUNK, _CHUNKS = "--num-layers-per-virtual-pipeline-stage", "--num-virtual-stages-per-pipeline-rank"
_GLOBAL, _MICRO = "--global-batch-size", "--micro-batch-size"
# With one of these, the stages differ.
_UNEVEN = (
    "--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers", "--pipeline-model-parallel-layout",
    "--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split",
    "--pipeline-model-parallel-split-rank", "--encoder-num-layers", "--decoder-num-layers",
    "--encoder-pipeline-model-parallel-size",
)  # fmt: skip
_ALL = (_LAYERS, _STAGES, _HEADS, _TENSOR, _CHUNK, _CHUNKS, _GLOBAL, _MICRO)


@rule(
    code="TD061",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/Megatron-LM core_v0.15.0 megatron/training/arguments.py: validate_args, num_layers",
        "NVIDIA/Megatron-LM core_v0.15.0 megatron/core/num_microbatches_calculator.py: ConstantNumMicroBatches",
        "github.com/NVIDIA/Megatron-LM issues 468 and 1304",
    ),
    needs=("pretrain_",),
)
def megatron_layers_uneven(role: Role, context: Context) -> Iterator[Problem]:
    """Report sizes that do not divide each other."""
    container = role.container
    command = megatron_command(container) if container is not None else None
    if container is None or command is None or is_repeated(command, *_ALL):
        return
    layers, stages = size_of(command, container, _LAYERS), size_of(command, container, _STAGES)
    if layers is not None and not command.has(*_UNEVEN):
        yield from _of_layers(command, container, layers, stages or (1, layers[1]))
    heads, tensor = size_of(command, container, _HEADS), size_of(command, container, _TENSOR)
    if heads is not None and tensor is not None and heads[0] % tensor[0]:
        message = f"{heads[0]} attention heads are not a multiple of the tensor-parallel size {tensor[0]}"
        yield Problem(tensor[1], f"{message}: Megatron stops", "write a size that divides the heads")
    yield from _of_batches(command, role, container, context)


def _of_layers(command: Command, container: Container, layers: Found, stages: Found) -> Iterator[Problem]:
    chunk, chunks = size_of(command, container, _CHUNK), size_of(command, container, _CHUNKS)
    if layers[0] % stages[0]:
        message = f"{layers[0]} layers are not a multiple of {stages[0]} pipeline stages: Megatron stops, or drops some"
        yield Problem(stages[1], message, "write a number of stages that divides the layers")
        return
    each = layers[0] // stages[0]
    if chunk is not None and each % chunk[0]:
        message = f"a stage has {each} layers, no multiple of {chunk[0]}: Megatron stops, or drops layers"
        yield Problem(chunk[1], message, f"write a number that divides {each}")
    elif chunks is not None and each % chunks[0]:
        message = f"a stage has {each} layers, no multiple of its {chunks[0]} chunks: Megatron stops"
        yield Problem(chunks[1], message, f"write a number that divides {each}")


def _of_batches(command: Command, role: Role, container: Container, context: Context) -> Iterator[Problem]:
    batch, micro = size_of(command, container, _GLOBAL), size_of(command, container, _MICRO)
    launches = list(torchrun_commands(container))
    if batch is None or micro is None or context.run is None or len(launches) != 1 or not role.trains:
        return
    nodes = node_range(launches[0], container, context.run)
    processes = count(processes_per_node(launches[0], container, context.run))
    sizes = [size_of(command, container, name) for name in (_TENSOR, _STAGES, _CONTEXT)]
    told = [command.has(name) for name in (_TENSOR, _STAGES, _CONTEXT)]
    is_unknown = any(given and size is None for given, size in zip(told, sizes, strict=True))
    if nodes is None or nodes[0] != nodes[1] or not processes or is_unknown or command.has("--rampup-batch-size"):
        return
    product = 1
    for size in sizes:
        product *= size[0] if size is not None else 1
    ranks = nodes[0] * processes
    data = ranks // product
    if ranks % product == 0 and batch[0] % (micro[0] * data):
        message = f"a global batch of {batch[0]} is not a multiple of {micro[0]} x {data} data-parallel ranks"
        yield Problem(batch[1], f"{message}: Megatron stops", f"write a multiple of {micro[0] * data}")
