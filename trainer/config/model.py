"""Which model, and how large."""

from __future__ import annotations

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Small by default: each model trains within seconds on one core."""

    model: str = option(
        "mlp", "mlp or cnn for image classification, gpt for next-token prediction", choices=("mlp", "cnn", "gpt")
    )
    hidden_size: int = option(
        128, "width of the hidden layer (mlp), of the last layers (cnn) or of the residual stream (gpt)", at_least=1
    )
    num_layers: int = option(2, "number of transformer blocks (gpt)", at_least=1)
    num_heads: int = option(4, "number of attention heads per block (gpt); must divide hidden_size", at_least=1)
    context_length: int = option(64, "context length in tokens; also the length of a sample (gpt)", at_least=1)
    dropout: float = option(0.1, "dropout probability in training", at_least=0, below=1)
    compile: bool = option(False, "compile the model with torch.compile")
    activation_checkpointing: bool = option(
        False, "recompute the activations of each block in the backward pass instead of storing them (gpt)"
    )
