"""The models."""

from __future__ import annotations

import math

from trainer.config import ModelConfig
from trainer.models.cnn import CNN
from trainer.models.gpt import GPT
from trainer.models.mlp import MLP
from trainer.models.model import Model


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
        case _:
            return GPT(
                vocabulary=classes,
                context_length=config.context_length,
                hidden_size=config.hidden_size,
                num_layers=config.num_layers,
                num_heads=config.num_heads,
                dropout=config.dropout,
                recompute=config.activation_checkpointing,
            )


__all__ = ["Model", "build_model"]
