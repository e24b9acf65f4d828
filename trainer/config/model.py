"""Which model, and how large."""

from dataclasses import dataclass

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Small by default: each model trains within seconds on one core."""

    model: str = option(
        "mlp", "mlp or cnn, which classify images, or gpt, which continues a text", choices=("mlp", "cnn", "gpt")
    )
    hidden_size: int = option(
        128, "width of the hidden layer (mlp), of the last layers (cnn), of the residual stream (gpt)", at_least=1
    )
    num_layers: int = option(2, "transformer blocks (gpt)", at_least=1)
    num_heads: int = option(4, "attention heads of each block (gpt); they divide hidden_size", at_least=1)
    context_length: int = option(64, "tokens that the gpt sees at once, and of each of its samples", at_least=1)
    dropout: float = option(0.1, "probability that a hidden unit is dropped in training", at_least=0, below=1)
    compile: bool = option(False, "compile the model with torch.compile")
    activation_checkpointing: bool = option(
        False, "compute the activations of each block again in backward instead of keeping them (gpt)"
    )
