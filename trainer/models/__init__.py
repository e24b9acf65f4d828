"""What is trained."""

import math

from trainer.config import ModelConfig
from trainer.models.cnn import CNN
from trainer.models.gpt import GPT
from trainer.models.mlp import MLP
from trainer.models.model import Model


def build_model(config: ModelConfig, *, shape: tuple[int, ...], classes: int) -> Model:
    """The model that `config` describes, with weights drawn from torch's current random state.

    `shape` is that of one sample's input, `classes` how many answers there are.
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
