"""Memory of a rank, by what holds it."""

from __future__ import annotations

import math
from typing import NamedTuple

from trainyard.commands.plan.layout import SHARDED, STATES, Layout
from trainyard.commands.plan.shapes import Shape

# CUDA's context, NCCL's buffers, and what the allocator cannot use: inferred, 2 to 5 GB in published runs.
RESERVE = 3e9
# The largest share by which the activations of the tests' models differ from those that PyTorch keeps.
ACCURACY = 0.1


class Memory(NamedTuple):
    """Bytes of a rank. `gathered` are weights in the precision of the computation; `host` is what is offloaded."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    gathered: float
    logits: float
    reserve: float
    host: float

    @property
    def total(self) -> float:
        """The bytes on the GPU."""
        return sum(self) - self.host


def stage_parameters(shape: Shape, layout: Layout) -> float:
    """Returns the parameters of a rank before sharding, those of the first stage, which holds the embeddings."""
    embeddings = shape.embedding_parameters
    if layout.pipeline > 1 and not shape.tied:
        # The head is on the last stage.
        embeddings -= shape.vocabulary * shape.hidden
    return (math.ceil(shape.layers / layout.pipeline) * shape.layer_parameters + embeddings) / layout.tensor


def activation_numbers(shape: Shape) -> float:
    """Returns the numbers per token that a layer keeps for its backward pass, with fused attention.

    Two norms keep inputs and outputs; attention keeps queries, keys, values and its output; the MLP keeps the input of
    its activation, and that of the last matrix; a gated one also both factors. Source: section 4 of arXiv:2205.05198,
    34 bytes per token and unit of width with dropout, of which the masks have 2.
    """
    attention = 2 * shape.attention_width + 2 * shape.kv_width
    return 4 * shape.hidden + attention + (4 if shape.gated else 2) * shape.mlp


def score_numbers(shape: Shape, sequence: int) -> float:
    """Returns the 16-bit numbers per token that a layer keeps of the scores of unfused attention.

    Source: section 4 of arXiv:2205.05198, 5 bytes per head and position: softmax, dropout, and its mask.
    """
    return 2.5 * shape.heads * sequence


def _activations(shape: Shape, layout: Layout) -> float:
    """Returns the bytes of activations; tensor parallelism also splits the sequence between the matrices."""
    numbers = activation_numbers(shape)
    if not layout.fused and layout.recompute == "none":
        numbers += score_numbers(shape, layout.sequence)
    per_layer = numbers * layout.micro_tokens * layout.compute_bytes / layout.tensor
    layers = math.ceil(shape.layers / layout.pipeline)
    one = shape.hidden * layout.micro_tokens * layout.compute_bytes / layout.tensor
    # 1F1B keeps as many micro-batches as there are stages after this one; interleaving keeps somewhat more.
    kept: float = min(layout.accumulation, layout.pipeline) if layout.pipeline > 1 else 1
    if layout.virtual > 1:
        kept *= 1 + (layout.pipeline - 1) / (layout.pipeline * layout.virtual)
    if layout.recompute == "full":
        return kept * layers * one + per_layer + 2 * one
    # The last norm keeps its input and output too.
    return kept * layers * per_layer + 2 * one


def _gathered(shape: Shape, layout: Layout) -> float:
    """Returns the bytes of weights that are held only for the computation."""
    if layout.strategy in SHARDED:
        # The layer that computes, and the next one, which is prefetched.
        return 2 * shape.layer_parameters / layout.tensor * layout.compute_bytes
    if layout.state == "autocast" and layout.compute_bytes == 2:
        return stage_parameters(shape, layout) * 2
    return 0.0


def memory(shape: Shape, layout: Layout) -> Memory:
    """Returns the memory of the rank that needs most."""
    parameters, sharding = stage_parameters(shape, layout), layout.sharding
    weights, gradients, optimizer = STATES[layout.state]
    by_strategy = {"ddp": (1, 1, 1), "zero1": (1, 1, sharding), "zero2": (1, sharding, sharding)}
    over = by_strategy.get(layout.strategy, (sharding, sharding, sharding))
    state = parameters * optimizer / over[2]
    # The logits of a micro-batch, and their logarithms in fp32 with their gradient.
    logits = layout.micro_tokens * shape.vocabulary / layout.tensor * (layout.compute_bytes + 4)
    return Memory(
        weights=parameters * weights / over[0],
        gradients=parameters * gradients / over[1],
        optimizer=0.0 if layout.offload else state,
        activations=_activations(shape, layout),
        gathered=_gathered(shape, layout),
        logits=logits,
        reserve=RESERVE,
        host=state if layout.offload else 0.0,
    )
