"""A decoder-only transformer like GPT-2: learned positions, pre-norm blocks, GELU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from .model import Model, SplitStyle

_APPROXIMATION: dict[str, Literal["none", "tanh"]] = {"gelu": "none", "gelu_tanh": "tanh"}
_STANDARD_DEVIATION = 0.02  # GPT-2's, https://github.com/openai/gpt-2/blob/master/src/model.py


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockShape:
    """Dimensions that the blocks of a GPT share."""

    hidden_size: int
    num_heads: int
    mlp_size: int
    activation: str
    norm_epsilon: float
    dropout: float


class _Attention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.head_size = hidden_size // num_heads
        self.dropout = dropout
        # A combined matrix could not be split by heads.
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)

    def forward(self, inputs: Tensor) -> Tensor:
        # With tensor parallelism, this rank has only some of the heads.
        query, key, value = (
            layer(inputs).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        dropout = self.dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(-2))
        return output


class _Block(nn.Module):
    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.attention = _Attention(shape.hidden_size, shape.num_heads, shape.dropout)
        self.mlp_norm = nn.LayerNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.up = nn.Linear(shape.hidden_size, shape.mlp_size)
        self.activation = nn.GELU(approximate=_APPROXIMATION[shape.activation])
        self.down = nn.Linear(shape.mlp_size, shape.hidden_size)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, inputs: Tensor) -> Tensor:
        attended = inputs + self.dropout(self.attention(self.attention_norm(inputs)))
        output: Tensor = attended + self.dropout(self.down(self.activation(self.up(self.mlp_norm(attended)))))
        return output


class GPT(Model):
    """Maps (n, t) int64 tokens, t up to `max_positions`, to (n, t, vocabulary) logits of each next token.

    With `tied`, the head multiplies by the embeddings of the tokens. With `recompute`, the activations of a block are
    recomputed in backward instead of kept.
    """

    def __init__(
        self,
        *,
        shape: BlockShape,
        vocabulary: int,
        context_length: int,
        max_positions: int,
        num_layers: int,
        tied: bool,
        recompute: bool,
    ) -> None:
        super().__init__()
        self.context_length = context_length
        self.recompute = recompute
        self.tokens = nn.Embedding(vocabulary, shape.hidden_size)
        self.positions = nn.Embedding(max_positions, shape.hidden_size)
        self.dropout = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(_Block(shape) for _ in range(num_layers))
        self.norm = nn.LayerNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.head = None if tied else nn.Linear(shape.hidden_size, vocabulary, bias=False)
        self.apply(initialize)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns logits (n, t, vocabulary)."""
        places = torch.arange(inputs.shape[1], device=inputs.device)
        hidden = self.dropout(self.tokens(inputs) + self.positions(places))
        for layer in self.layers:
            if self.recompute and self.training:
                hidden = checkpoint(layer, hidden, use_reentrant=False)
            else:
                hidden = layer(hidden)
        return logits_of(self.norm(hidden), self.head, self.tokens)

    def blocks(self) -> Sequence[nn.Module]:
        """Returns the transformer blocks."""
        return list(self.layers)

    def tensor_parallel_plan(self) -> Mapping[str, SplitStyle]:
        """Splits the attention heads and the hidden units of each block."""
        columns = ("attention.query", "attention.key", "attention.value", "up")
        found: dict[str, SplitStyle] = {}
        for number in range(len(self.layers)):
            found |= {f"layers.{number}.{name}": "colwise" for name in columns}
            found |= {f"layers.{number}.{name}": "rowwise" for name in ("attention.output", "down")}
        return found

    def flops_per_sample(self) -> float:
        """Counts per token 6 for each matrix parameter, and 12 * hidden_size * context_length per layer for attention.

        Source: Appendix B of PaLM, https://arxiv.org/abs/2204.02311. Embeddings are looked up, not multiplied.
        """
        length, hidden_size = self.context_length, self.norm.weight.numel()
        looked_up = self.positions.weight.numel() + (0 if self.head is None else self.tokens.weight.numel())
        multiplied = sum(parameter.numel() for parameter in self.parameters()) - looked_up
        return float(length * (6 * multiplied + 12 * len(self.layers) * hidden_size * length))


def logits_of(hidden: Tensor, head: nn.Linear | None, tokens: nn.Embedding) -> Tensor:
    """Returns the logits by `head`, or by the embeddings without one.

    A head that shares its parameter would not survive a move from the meta device, which replaces parameters.
    """
    logits: Tensor = linear(hidden, tokens.weight) if head is None else head(hidden)
    return logits


def initialize(module: nn.Module) -> None:
    """Draws the initial weights of a layer, as GPT-2 does."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=_STANDARD_DEVIATION)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
