"""A decoder-only transformer like Llama: rotary positions, RMSNorm, SwiGLU, fewer heads of keys than of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu
from torch.utils.checkpoint import checkpoint

from .gpt import initialize, logits_of
from .model import Model, SplitStyle


@dataclass(frozen=True, kw_only=True, slots=True)
class LlamaShape:
    """Dimensions that the blocks of a Llama share."""

    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    mlp_size: int
    norm_epsilon: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Rope:
    """Rotary position embeddings: their base, and how Llama 3.1 stretches long wavelengths, unless `factor` is 1.

    Wavelengths up to `original_positions / high_freq_factor` stay, those from `original_positions / low_freq_factor` on
    are `factor` times as long, and in between the change is gradual.
    """

    theta: float
    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_positions: int

    def frequencies(self, head_size: int, device: torch.device) -> Tensor:
        """Returns the angle per position of each pair, (head_size / 2)."""
        exponents = torch.arange(0, head_size, 2, device=device, dtype=torch.int64).float()
        found = 1.0 / self.theta ** (exponents / head_size)
        if self.factor == 1:
            return found
        turns = self.original_positions * found / (2 * math.pi)
        share = (turns - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor)
        share = share.clamp(0, 1)
        return (1 - share) * found / self.factor + share * found


class _Attention(nn.Module):
    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.head_size = shape.head_size
        self.query = nn.Linear(shape.hidden_size, shape.num_heads * shape.head_size, bias=False)
        self.key = nn.Linear(shape.hidden_size, shape.num_kv_heads * shape.head_size, bias=False)
        self.value = nn.Linear(shape.hidden_size, shape.num_kv_heads * shape.head_size, bias=False)
        self.output = nn.Linear(shape.num_heads * shape.head_size, shape.hidden_size, bias=False)

    def forward(self, inputs: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        # With tensor parallelism, this rank has only some of the heads.
        query, key, value = (
            layer(inputs).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        query, key = (_rotate(heads, cosines, sines) for heads in (query, key))
        mixed = scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=query.shape[1] != key.shape[1]
        )
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(-2))
        return output


class _Block(nn.Module):
    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.attention = _Attention(shape)
        self.mlp_norm = nn.RMSNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.gate = nn.Linear(shape.hidden_size, shape.mlp_size, bias=False)
        self.up = nn.Linear(shape.hidden_size, shape.mlp_size, bias=False)
        self.down = nn.Linear(shape.mlp_size, shape.hidden_size, bias=False)

    def forward(self, inputs: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        attended = inputs + self.attention(self.attention_norm(inputs), cosines, sines)
        normed = self.mlp_norm(attended)
        output: Tensor = attended + self.down(silu(self.gate(normed)) * self.up(normed))
        return output


class Llama(Model):
    """Maps (n, t) int64 tokens to (n, t, vocabulary) logits of each next token. There is no dropout.

    With `tied`, the head multiplies by the embeddings of the tokens. With `recompute`, the activations of a block are
    recomputed in backward instead of kept.
    """

    def __init__(
        self,
        *,
        shape: LlamaShape,
        vocabulary: int,
        context_length: int,
        num_layers: int,
        rope: Rope,
        tied: bool,
        recompute: bool,
    ) -> None:
        super().__init__()
        self.context_length = context_length
        self.head_size = shape.head_size
        self.attention_width = shape.num_heads * shape.head_size
        self.rope = rope
        self.recompute = recompute
        self.tokens = nn.Embedding(vocabulary, shape.hidden_size)
        self.layers = nn.ModuleList(_Block(shape) for _ in range(num_layers))
        self.norm = nn.RMSNorm(shape.hidden_size, eps=shape.norm_epsilon)
        self.head = None if tied else nn.Linear(shape.hidden_size, vocabulary, bias=False)
        self.apply(initialize)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns logits (n, t, vocabulary)."""
        hidden = self.tokens(inputs)
        cosines, sines = self._angles(inputs.shape[1], hidden)
        for layer in self.layers:
            if self.recompute and self.training:
                hidden = checkpoint(layer, hidden, cosines, sines, use_reentrant=False)
            else:
                hidden = layer(hidden, cosines, sines)
        return logits_of(self.norm(hidden), self.head, self.tokens)

    def blocks(self) -> Sequence[nn.Module]:
        """Returns the transformer blocks."""
        return list(self.layers)

    def tensor_parallel_plan(self) -> Mapping[str, SplitStyle]:
        """Splits the attention heads and the hidden units of each block."""
        columns = ("attention.query", "attention.key", "attention.value", "gate", "up")
        found: dict[str, SplitStyle] = {}
        for number in range(len(self.layers)):
            found |= {f"layers.{number}.{name}": "colwise" for name in columns}
            found |= {f"layers.{number}.{name}": "rowwise" for name in ("attention.output", "down")}
        return found

    def flops_per_sample(self) -> float:
        """Counts as `GPT` does; the width of the attention may differ from `hidden_size`."""
        length = self.context_length
        looked_up = self.tokens.weight.numel() if self.head is not None else 0
        multiplied = sum(parameter.numel() for parameter in self.parameters()) - looked_up
        return float(length * (6 * multiplied + 12 * len(self.layers) * self.attention_width * length))

    def _angles(self, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the cosines and sines of each position's rotation, (length, head_size), in the type of `like`.

        Computed in fp32 each time: a buffer would be rounded to 16 bits with the parameters, and is not in checkpoints.
        """
        places = torch.arange(length, device=like.device, dtype=torch.float32)
        angles = (places[:, None] * self.rope.frequencies(self.head_size, like.device)).repeat(1, 2)
        return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def _rotate(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotates pairs of numbers, of which one is in each half, as the weights of Hugging Face require."""
    first, second = heads.chunk(2, dim=-1)
    # With autocast, the angles have more precision than the heads.
    return (heads * cosines + torch.cat((-second, first), dim=-1) * sines).to(heads.dtype)
