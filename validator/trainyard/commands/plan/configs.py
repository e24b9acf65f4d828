"""Shapes of models from a Hugging Face `config.json`, and from the fields of the reference trainer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.shapes import Shape, shape_names, shape_of
from trainyard.document.lookup import items
from trainyard.document.opening import reason

# The names of a field, by the families of Hugging Face.
_FIELDS = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
}
# Families of which the MLP has two matrices. That of the others is gated.
_PLAIN = ("gpt2", "gpt_neo", "gpt_neox", "gptj", "opt", "bloom", "mpt", "falcon", "phi", "starcoder2", "gpt_bigcode")
_LEARNED_POSITIONS = ("gpt2", "gpt_neo", "opt", "gpt_bigcode")
_TIED = ("gpt2", "gpt_neo", "opt", "bloom", "mpt", "gpt_bigcode", "gemma", "gemma2", "gemma3_text")
# Parts of the names of classes that predict the next token.
_DECODERS = ("CausalLM", "LMHead")
_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
# Fields of the trainer; trainer/config/model.py has their defaults.
_TRAINER = {"hidden_size": 128, "num_layers": 2, "num_heads": 4, "num_kv_heads": 0, "head_size": 0, "mlp_size": 0}


def model_of(name: str) -> Shape:
    """Returns the shape of a known model, or of a `config.json`, named with or without its folder's file name.

    Raises `PlanError`.
    """
    path = Path(name)
    if path.is_dir():
        path /= "config.json"
    if path.suffix == ".json" or path.exists():
        return shape_of_config(_read(path), name)
    try:
        return shape_of(name)
    except PlanError as error:
        if "/" in name:
            raise PlanError(
                f"--model {name}: there is no such file, and nothing is downloaded; save the model's config.json "
                f"and name it, or write one of {', '.join(shape_names())}"
            ) from None
        raise PlanError(f"--model: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"--model {path}: it cannot be read: {reason(error)}") from None
    except ValueError as error:
        raise PlanError(f"--model {path}: this is not JSON: {error}") from None
    if not isinstance(tree, dict):
        raise PlanError(f"--model {path}: this is no config.json of a model; it holds no mapping")
    return tree


def shape_of_config(tree: Mapping[str, Any], name: str) -> Shape:
    """Returns the shape that a `config.json` of Hugging Face describes. Raises `PlanError`."""
    family = str(tree.get("model_type", ""))
    classes = items(tree, "architectures")
    if classes and not any(part in str(name_of_class) for name_of_class in classes for part in _DECODERS):
        raise PlanError(f"--model {name}: {classes[0]} is no decoder of text; name a causal language model")
    if any(_number(tree, (field,), name, 0) > 1 for field in _EXPERTS):
        raise PlanError(f"--model {name}: mixtures of experts are not estimated; name a dense model")
    hidden = _number(tree, _FIELDS["hidden"], name)
    heads = _number(tree, _FIELDS["heads"], name)
    gated = family not in _PLAIN
    wide = hidden * int(tree.get("expansion_ratio") or 4)
    mlp = _number(tree, ("intermediate_size", "ffn_dim", "n_inner"), name, wide)
    positions = ("n_positions", "max_position_embeddings")
    return Shape(
        name=str(tree.get("_name_or_path") or name),
        layers=_number(tree, _FIELDS["layers"], name),
        hidden=hidden,
        heads=heads,
        kv_heads=_number(tree, ("num_key_value_heads",), name, heads),
        head_size=_number(tree, ("head_dim",), name, hidden // heads),
        mlp=mlp,
        gated=gated,
        vocabulary=_number(tree, ("vocab_size",), name),
        positions=_number(tree, positions, name, 0) if family in _LEARNED_POSITIONS else 0,
        tied=bool(tree.get("tie_word_embeddings", family in _TIED)),
        source=name,
    )


def _number(tree: Mapping[str, Any], fields: tuple[str, ...], name: str, default: int | None = None) -> int:
    """Returns the first of these fields that is there. Raises `PlanError` if it is no positive integer."""
    for field in fields:
        value = tree.get(field)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise PlanError(f"--model {name}: {field} is {value!r}; it must be a positive integer")
        return value
    if default is None:
        raise PlanError(f"--model {name}: it has none of {', '.join(fields)}; is it the config.json of a transformer?")
    return default


def shape_of_trainer(config: Mapping[str, Any]) -> Shape | None:
    """Returns the shape of the reference trainer's model; None if it is no model of tokens, or `init_from` names it."""
    kind = config.get("model")
    if kind not in ("gpt", "llama") or config.get("init_from"):
        return None
    field = {name: int(config.get(name) or default) for name, default in _TRAINER.items()}
    context = int(config.get("context_length") or 64)
    return Shape(
        name=f"{kind} of the trainer",
        layers=field["num_layers"],
        hidden=field["hidden_size"],
        heads=field["num_heads"],
        kv_heads=(field["num_kv_heads"] or field["num_heads"]) if kind == "llama" else field["num_heads"],
        head_size=field["head_size"] or field["hidden_size"] // field["num_heads"],
        mlp=field["mlp_size"] or 4 * field["hidden_size"],
        gated=kind == "llama",
        vocabulary=int(config.get("classes") or (256 if config.get("data") == "text" else 10)),
        positions=int(config.get("max_positions") or context) if kind == "gpt" else 0,
        tied=bool(config.get("tie_embeddings")),
        source="train.config",
    )
