"""The kind of the model and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .option import option

TOKEN_MODELS = ("gpt", "llama")
# The fields that define a model of tokens together with the size of its vocabulary. 0 in a derived one stands for a
# value that follows from other fields.
DERIVED = ("num_kv_heads", "head_size", "mlp_size", "max_positions")
ARCHITECTURE = (
    "model",
    "hidden_size",
    "num_layers",
    "num_heads",
    "activation",
    "norm_epsilon",
    "rope_theta",
    "rope_factor",
    "rope_low_freq_factor",
    "rope_high_freq_factor",
    "rope_original_positions",
    "tie_embeddings",
    *DERIVED,
)


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Small by default: each model trains within seconds on one core."""

    model: str = option(
        "mlp",
        "mlp or cnn for image classification, gpt (like GPT-2) or llama for next-token prediction",
        choices=("mlp", "cnn", "gpt", "llama"),
    )
    init_from: str = option(
        "",
        "initial weights: folder of a Hugging Face model (gpt2 or llama), or a file of "
        "`python -m trainer.export DIR FILE`; fields of the model that are not set follow it",
    )
    hidden_size: int = option(
        128,
        "width of the hidden layer (mlp), of the last layers (cnn) or of the residual stream (gpt, llama)",
        at_least=1,
    )
    num_layers: int = option(2, "number of transformer blocks (gpt, llama)", at_least=1)
    num_heads: int = option(
        4,
        "number of attention heads per block (gpt, llama); must divide hidden_size, unless head_size is set",
        at_least=1,
    )
    num_kv_heads: int = option(
        0, "number of heads of keys and values per block (llama); divides num_heads (0: num_heads)", at_least=0
    )
    head_size: int = option(
        0, "width of an attention head (llama); even (0: hidden_size divided by num_heads)", at_least=0
    )
    mlp_size: int = option(0, "hidden units of each block's MLP (gpt, llama) (0: 4 times hidden_size)", at_least=0)
    activation: str = option(
        "gelu", "activation of the MLP (gpt): gelu, or gelu_tanh as in GPT-2", choices=("gelu", "gelu_tanh")
    )
    norm_epsilon: float = option(1e-5, "epsilon of LayerNorm (gpt) and RMSNorm (llama)", above=0)
    rope_theta: float = option(10000.0, "base of the rotary position embeddings (llama)", above=0)
    rope_factor: float = option(
        1.0, "factor by which long wavelengths of the rotary positions grow, as in Llama 3.1 (1: none)", at_least=1
    )
    rope_low_freq_factor: float = option(
        1.0, "rope_original_positions divided by the wavelength from which on rope_factor applies in full", above=0
    )
    rope_high_freq_factor: float = option(
        4.0, "rope_original_positions divided by the wavelength up to which rope_factor does not apply", above=0
    )
    rope_original_positions: int = option(8192, "positions before the stretch by rope_factor", at_least=1)
    tie_embeddings: bool = option(False, "use the token embeddings as the head, as GPT-2 does (gpt, llama)")
    context_length: int = option(64, "context length in tokens; also the length of a sample (gpt, llama)", at_least=1)
    max_positions: int = option(
        0, "positions that the model has, at least context_length (gpt, llama) (0: context_length)", at_least=0
    )
    dropout: float = option(0.1, "dropout probability in training (llama has none)", at_least=0, below=1)
    compile: bool = option(False, "compile the model with torch.compile")
    activation_checkpointing: bool = option(
        False, "recompute the activations of each block in the backward pass instead of storing them (gpt, llama)"
    )

    @property
    def reads_tokens(self) -> bool:
        """True for language models."""
        return self.model in TOKEN_MODELS

    def derived_or_set(self, name: str) -> Any:
        """Returns the value of a field, derived if it is 0 and can be."""
        return self.derived(name) if name in DERIVED else getattr(self, name)

    def derived(self, name: str) -> int:
        """Returns the value of a field whose 0 stands for a value derived from other fields."""
        if value := int(getattr(self, name)):
            return value
        match name:
            case "num_kv_heads":
                return self.num_heads
            case "head_size":
                return self.hidden_size // self.num_heads
            case "mlp_size":
                return 4 * self.hidden_size
            case "max_positions":
                return self.context_length
            case _:
                raise ValueError(f"{name} is not derived")
