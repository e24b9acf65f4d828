"""The names and shapes of tensors in Hugging Face models, and the trainer's for the same weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ..config import ModelConfig

HEAD = "lm_head.weight"
_PREFIXES = {"gpt": "transformer.", "llama": "model."}
# Buffers that the trainer computes.
_IGNORED = {
    "gpt": re.compile(r"h\.\d+\.attn\.(masked_)?bias"),
    "llama": re.compile(r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq"),
}


@dataclass(frozen=True, slots=True)
class Parts:
    """The trainer's tensors that one of Hugging Face holds, one after another by rows.

    GPT-2 stores the transposed matrices of its blocks.
    """

    names: tuple[str, ...]
    transposed: bool = False

    def join(self, weights: Mapping[str, Tensor]) -> Tensor:
        """Returns the tensor of Hugging Face with the trainer's `weights`."""
        joined = torch.cat([weights[name] for name in self.names])
        return (joined.T if self.transposed else joined).contiguous()

    def split(self, tensor: Tensor) -> dict[str, Tensor]:
        """Returns the trainer's weights in a tensor of Hugging Face, as fp32 copies."""
        whole = tensor.T if self.transposed else tensor
        pieces = whole.chunk(len(self.names)) if len(self.names) > 1 else (whole,)
        return {
            name: torch.empty(piece.shape, dtype=torch.float32).copy_(piece)
            for name, piece in zip(self.names, pieces, strict=True)
        }

    def shape(self, shapes: Mapping[str, torch.Size]) -> list[int]:
        """Returns the shape of the tensor of Hugging Face, for the trainer's `shapes`."""
        first, *rest = (list(shapes[name]) for name in self.names)
        joined = [first[0] + sum(other[0] for other in rest), *first[1:]]
        return joined[::-1] if self.transposed else joined


def tensors_of(config: ModelConfig) -> dict[str, Parts]:
    """Returns the tensors of the model that `config` describes, by their names without the prefix of the type."""
    whole, block = {"gpt": _gpt2, "llama": _llama}[config.model]()
    found = {name: Parts((of,)) for name, of in whole.items()}
    if not config.tie_embeddings:
        found[HEAD] = Parts(("head.weight",))
    folder = {"gpt": "h", "llama": "layers"}[config.model]
    for number in range(config.num_layers):
        for name, parts in block.items():
            names = tuple(f"layers.{number}.{part}" for part in parts.names)
            found[f"{folder}.{number}.{name}"] = Parts(names, parts.transposed)
    return found


def without_prefix(config: ModelConfig, name: str) -> str:
    """Returns the name of a tensor without the prefix of the type, which files of a bare model lack."""
    return name.removeprefix(_PREFIXES[config.model])


def with_prefix(config: ModelConfig, name: str) -> str:
    """Returns the name of a tensor in a model with a head."""
    return name if name == HEAD else _PREFIXES[config.model] + name


def is_ignored(config: ModelConfig, name: str) -> bool:
    """Returns true for a tensor, named without the prefix, that is not needed."""
    return bool(_IGNORED[config.model].fullmatch(name)) or (config.tie_embeddings and name == HEAD)


def _gpt2() -> tuple[dict[str, str], dict[str, Parts]]:
    whole = {"wte.weight": "tokens.weight", "wpe.weight": "positions.weight"}
    block: dict[str, Parts] = {}
    for kind in ("weight", "bias"):
        matrix = kind == "weight"
        heads = tuple(f"attention.{name}.{kind}" for name in ("query", "key", "value"))
        whole[f"ln_f.{kind}"] = f"norm.{kind}"
        block |= {
            f"ln_1.{kind}": Parts((f"attention_norm.{kind}",)),
            f"attn.c_attn.{kind}": Parts(heads, matrix),
            f"attn.c_proj.{kind}": Parts((f"attention.output.{kind}",), matrix),
            f"ln_2.{kind}": Parts((f"mlp_norm.{kind}",)),
            f"mlp.c_fc.{kind}": Parts((f"up.{kind}",), matrix),
            f"mlp.c_proj.{kind}": Parts((f"down.{kind}",), matrix),
        }
    return whole, block


def _llama() -> tuple[dict[str, str], dict[str, Parts]]:
    names = {
        "input_layernorm": "attention_norm",
        "self_attn.q_proj": "attention.query",
        "self_attn.k_proj": "attention.key",
        "self_attn.v_proj": "attention.value",
        "self_attn.o_proj": "attention.output",
        "post_attention_layernorm": "mlp_norm",
        "mlp.gate_proj": "gate",
        "mlp.up_proj": "up",
        "mlp.down_proj": "down",
    }
    whole = {"embed_tokens.weight": "tokens.weight", "norm.weight": "norm.weight"}
    return whole, {f"{theirs}.weight": Parts((f"{ours}.weight",)) for theirs, ours in names.items()}
