"""A decoder-only transformer like GPT-2: learned positions, pre-norm blocks, GELU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from trainer.models.model import Model, SplitStyle

_WIDENING = 4
_STANDARD_DEVIATION = 0.02  # GPT-2's, https://github.com/openai/gpt-2/blob/master/src/model.py


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
    def __init__(self, hidden_size: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(hidden_size)
        self.attention = _Attention(hidden_size, num_heads, dropout)
        self.mlp_norm = nn.LayerNorm(hidden_size)
        self.up = nn.Linear(hidden_size, _WIDENING * hidden_size)
        self.activation = nn.GELU()
        self.down = nn.Linear(_WIDENING * hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor) -> Tensor:
        attended = inputs + self.dropout(self.attention(self.attention_norm(inputs)))
        output: Tensor = attended + self.dropout(self.down(self.activation(self.up(self.mlp_norm(attended)))))
        return output


class GPT(Model):
    """Maps (n, t) int64 tokens, t up to `context_length`, to (n, t, vocabulary) logits of each next token.

    With `recompute`, the activations of a block are recomputed in backward instead of kept.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        context_length: int,
        hidden_size: int,
        num_layers: int,
        num_heads: int,
        dropout: float,
        recompute: bool,
    ) -> None:
        super().__init__()
        self.recompute = recompute
        self.tokens = nn.Embedding(vocabulary, hidden_size)
        self.positions = nn.Embedding(context_length, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(_Block(hidden_size, num_heads, dropout) for _ in range(num_layers))
        self.norm = nn.LayerNorm(hidden_size)
        self.head = nn.Linear(hidden_size, vocabulary, bias=False)
        self.apply(_initialise)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns logits (n, t, vocabulary)."""
        places = torch.arange(inputs.shape[1], device=inputs.device)
        hidden = self.dropout(self.tokens(inputs) + self.positions(places))
        for layer in self.layers:
            if self.recompute and self.training:
                hidden = checkpoint(layer, hidden, use_reentrant=False)
            else:
                hidden = layer(hidden)
        logits: Tensor = self.head(self.norm(hidden))
        return logits

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
        length, hidden_size = self.positions.weight.shape
        looked_up = self.tokens.weight.numel() + self.positions.weight.numel()
        multiplied = sum(parameter.numel() for parameter in self.parameters()) - looked_up
        return float(length * (6 * multiplied + 12 * len(self.layers) * hidden_size * length))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=_STANDARD_DEVIATION)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
