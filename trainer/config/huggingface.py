"""The configuration of a Hugging Face model, `config.json`, as fields of the trainer, and back.

Source: https://huggingface.co/docs/transformers/model_doc/gpt2 and llama, `GPT2Config` and `LlamaConfig`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError
from .model import ModelConfig

_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu"}
# The field of each key of Llama 3.1's rotary positions, which config.json nests.
_ROPE = {
    "factor": "rope_factor",
    "low_freq_factor": "rope_low_freq_factor",
    "high_freq_factor": "rope_high_freq_factor",
    "original_max_position_embeddings": "rope_original_positions",
}
# Keys without an effect on the logits: generation, training, descriptions.
_IRRELEVANT = re.compile(
    r"_.*|architectures|(torch_)?dtype|transformers_version|use_cache|initializer_range|pretraining_tp|n_ctx"
    r"|.*_(token|class)_id|.*(dropout|pdrop)|summary_.*|reorder_and_upcast_attn|task_specific_params|tokenizer_class"
    r"|(id2label|label2id|problem_type|finetuning_task)|gradient_checkpointing|is_decoder|auto_map"
    r"|(output|return)_.*|chunk_size_feed_forward|do_sample|top_[kp]|temperature|(max|min)_(sequence_)?length"
    r"|is_llama_config|attn_implementation|unsloth_.*|transformers\.js_config"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Architecture:
    """A type of model.

    Attributes:
        model: The trainer's model.
        fields: The field of each key.
        optional: Values of keys that a file may omit; None for values that follow from others.
        fixed: The only value that each of these keys may have.
        exported: Further keys of a file that is written.
    """

    model: str
    fields: Mapping[str, str]
    optional: Mapping[str, Any]
    fixed: Mapping[str, Any]
    exported: Callable[[ModelConfig], Mapping[str, Any]]


_ARCHITECTURES = {
    "gpt2": _Architecture(
        model="gpt",
        fields={
            "vocab_size": "classes",
            "n_positions": "max_positions",
            "n_embd": "hidden_size",
            "n_layer": "num_layers",
            "n_head": "num_heads",
            "n_inner": "mlp_size",
            "activation_function": "activation",
            "layer_norm_epsilon": "norm_epsilon",
            "tie_word_embeddings": "tie_embeddings",
        },
        optional={
            "n_inner": None,
            "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5,
            "tie_word_embeddings": True,
        },
        fixed={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
        exported=lambda config: {
            "architectures": ["GPT2LMHeadModel"],
            **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), config.dropout),
        },
    ),
    "llama": _Architecture(
        model="llama",
        fields={
            "vocab_size": "classes",
            "max_position_embeddings": "max_positions",
            "hidden_size": "hidden_size",
            "num_hidden_layers": "num_layers",
            "num_attention_heads": "num_heads",
            "num_key_value_heads": "num_kv_heads",
            "head_dim": "head_size",
            "intermediate_size": "mlp_size",
            "rms_norm_eps": "norm_epsilon",
            "rope_theta": "rope_theta",
            **{field: field for field in _ROPE.values()},
            "tie_word_embeddings": "tie_embeddings",
        },
        optional={
            "num_key_value_heads": None,
            "head_dim": None,
            "rms_norm_eps": 1e-6,
            "rope_theta": 10000.0,
            **{field: getattr(ModelConfig, field) for field in _ROPE.values()},
            "tie_word_embeddings": False,
        },
        fixed={"hidden_act": "silu", "attention_bias": False, "mlp_bias": False},
        exported=lambda _: {"architectures": ["LlamaForCausalLM"]},
    ),
}


def fields_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of the model that `found`, the content of config.json, describes.

    Raises:
        ConfigError: It is not a model that the trainer can compute. The message names the key.
    """
    name = found.get("model_type")
    if (architecture := _ARCHITECTURES.get(str(name))) is None:
        raise ConfigError(f"model_type {name} is unknown: use a model of type {' or '.join(_ARCHITECTURES)}")
    values = {**architecture.optional, **_with_rope(found)}
    _check_keys(values, architecture)
    known: dict[str, Any] = {"model": architecture.model}
    for key, field in architecture.fields.items():
        known[field] = _checked(key, values.get(key), ModelConfig.__dataclass_fields__.get(field), architecture)
    derived = ModelConfig(**{name: value for name, value in known.items() if name != "classes"})
    for field in ("num_kv_heads", "head_size", "mlp_size"):
        if field in known:
            known[field] = derived.derived(field)
    return known


def config_json(config: ModelConfig, vocabulary: int) -> dict[str, Any]:
    """Returns the content of config.json for the model that `config` describes.

    Raises:
        ConfigError: Hugging Face has no such model.
    """
    kinds = {architecture.model: kind for kind, architecture in _ARCHITECTURES.items()}
    if config.model not in kinds:
        raise ConfigError(f"Hugging Face has no model like {config.model}: write OUT as FILE.safetensors")
    architecture = _ARCHITECTURES[kinds[config.model]]
    spelled = {field: key for key, field in _ACTIVATIONS.items() if key != "gelu_pytorch_tanh"}
    values: dict[str, Any] = {
        key: vocabulary if field == "classes" else config.derived_or_set(field)
        for key, field in architecture.fields.items()
    }
    if "activation_function" in values:
        values["activation_function"] = spelled[values["activation_function"]]
    if "rope_theta" in values:
        scaling = {key: values.pop(field) for key, field in _ROPE.items()}
        values["rope_scaling"] = None if config.rope_factor == 1 else {"rope_type": "llama3", **scaling}
    return {
        "model_type": kinds[config.model],
        **architecture.exported(config),
        **values,
        **architecture.fixed,
        "dtype": "float32",
        # The tokenizer defines these; its defaults may be outside of the vocabulary.
        "bos_token_id": None,
        "eos_token_id": None,
    }


def _with_rope(found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `found` with the rotary positions as keys beside the others.

    transformers 5 nests all of them in `rope_parameters`; earlier versions have `rope_theta` beside `rope_scaling`.

    Raises:
        ConfigError: The positions are scaled in a way that the trainer does not compute.
    """
    values = dict(found)
    for key in ("rope_parameters", "rope_scaling"):
        nested = values.pop(key, None) or {}
        if not isinstance(nested, dict):
            raise ConfigError(f"{key} is {nested!r}, and not an object: download the file again")
        nested = dict(nested)
        kind = nested.pop("rope_type", nested.pop("type", "default"))
        if kind not in ("default", "llama3"):
            raise ConfigError(f"{key} has the type {kind}: use a model with the type default or llama3")
        fields = {"rope_theta": "rope_theta", **(_ROPE if kind == "llama3" else {})}
        if unlike := sorted((nested.keys() ^ fields.keys()) - {"rope_theta"}):
            problem = "is missing" if unlike[0] in fields else "is unknown"
            raise ConfigError(f"{key} has the type {kind}, and {unlike[0]} {problem}: use another model")
        values |= {fields[name]: value for name, value in nested.items()}
    return values


def _check_keys(values: Mapping[str, Any], architecture: _Architecture) -> None:
    for key, only in architecture.fixed.items():
        if values.get(key, only) != only:
            raise ConfigError(f"{key} is {values[key]!r}, and only {only!r} is supported: use another model")
    for key, value in values.items():
        known = key == "model_type" or key in architecture.fields or key in architecture.fixed
        # An option that is off has no effect.
        if not known and value and not _IRRELEVANT.fullmatch(key):
            raise ConfigError(
                f"{key} is unknown, and may change what the model computes: use another model, or remove the key if it "
                "has no effect"
            )


def _checked(key: str, value: Any, field: Any, architecture: _Architecture) -> Any:
    """Returns the value of the field that `key` stands for; 0 for one that follows from others."""
    if value is None and key in architecture.optional:
        return 0
    wanted = int if field is None else type(field.default)
    if wanted is float and type(value) is int:
        value = float(value)
    if type(value) is not wanted or (wanted is not bool and wanted is not str and value <= 0):
        problem = "is missing" if value is None else f"is {value!r}"
        raise ConfigError(f"{key} {problem}: write what the weights have")
    if key != "activation_function":
        return value
    if value not in _ACTIVATIONS:
        raise ConfigError(f"{key} is {value!r}: use a model with {' or '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[value]
