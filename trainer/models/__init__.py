"""The models."""

from __future__ import annotations

import math

from ..config import ModelConfig
from .cnn import CNN
from .gpt import GPT, BlockShape
from .llama import Llama, LlamaShape, Rope
from .mlp import MLP
from .model import Model


def build_model(config: ModelConfig, *, shape: tuple[int, ...], classes: int) -> Model:
    """Builds the model that `config` describes, with random initial weights.

    `shape` is the shape of one sample's input, `classes` the number of classes.
    """
    match config.model:
        case "mlp":
            return MLP(
                features=math.prod(shape), hidden_size=config.hidden_size, classes=classes, dropout=config.dropout
            )
        case "cnn":
            return CNN(image=shape, hidden_size=config.hidden_size, classes=classes, dropout=config.dropout)
        case "llama":
            return _llama(config, classes)
        case _:
            return _gpt(config, classes)


def _gpt(config: ModelConfig, vocabulary: int) -> GPT:
    return GPT(
        shape=BlockShape(
            hidden_size=config.hidden_size,
            num_heads=config.num_heads,
            mlp_size=config.derived("mlp_size"),
            activation=config.activation,
            norm_epsilon=config.norm_epsilon,
            dropout=config.dropout,
        ),
        vocabulary=vocabulary,
        context_length=config.context_length,
        max_positions=config.derived("max_positions"),
        num_layers=config.num_layers,
        tied=config.tie_embeddings,
        recompute=config.activation_checkpointing,
    )


def _llama(config: ModelConfig, vocabulary: int) -> Llama:
    return Llama(
        shape=LlamaShape(
            hidden_size=config.hidden_size,
            num_heads=config.num_heads,
            num_kv_heads=config.derived("num_kv_heads"),
            head_size=config.derived("head_size"),
            mlp_size=config.derived("mlp_size"),
            norm_epsilon=config.norm_epsilon,
        ),
        vocabulary=vocabulary,
        context_length=config.context_length,
        num_layers=config.num_layers,
        rope=Rope(
            theta=config.rope_theta,
            factor=config.rope_factor,
            low_freq_factor=config.rope_low_freq_factor,
            high_freq_factor=config.rope_high_freq_factor,
            original_positions=config.rope_original_positions,
        ),
        tied=config.tie_embeddings,
        recompute=config.activation_checkpointing,
    )


__all__ = ["Model", "build_model"]
