"""FSDP is told to wrap the layers of one model, but the program trains another, which has no such layers.

`fsdp_transformer_layer_cls_to_wrap` names the class of the model's blocks. Accelerate looks the class up in the model
and ends with `Could not find the transformer layer class to wrap in the model`. Configurations that were copied from
another model fail this way.

The rule compares the class with the family in the name of the model (`--model_name_or_path`) for well-known families.
It ignores local paths and unknown names.

Write the class of the model, or leave the field out: Accelerate then takes `_no_split_modules` of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs, scripts
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

FIELD = "fsdp_transformer_layer_cls_to_wrap"
# The beginning of the name of a model, and the class of its layers.
OF_FAMILY = {
    r"bert-": "BertLayer",
    r"roberta-": "RobertaLayer",
    r"gpt2(-|$)": "GPT2Block",
    r"(flan-)?t5-(small|base|large|xl|xxl|[0-9]+b)$": "T5Block",
    r"(meta-)?llama-(2|3(\.[123])?)-[0-9]+b(?!.*vision)": "LlamaDecoderLayer",
    r"mistral-7b": "MistralDecoderLayer",
    r"mixtral-8x": "MixtralDecoderLayer",
    r"qwen2(\.5)?-[0-9.]+b(?!-a[0-9])": "Qwen2DecoderLayer",
    r"qwen3-[0-9.]+b(-base)?$": "Qwen3DecoderLayer",
    r"opt-[0-9.]+[bm]$": "OPTDecoderLayer",
    r"pythia-|gpt-neox-": "GPTNeoXLayer",
    r"falcon-[0-9]+b": "FalconDecoderLayer",
}


@rule(
    code="TD028",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/accelerate 1.15.0 src/accelerate/utils/dataclasses.py: set_auto_wrap_policy",
        "huggingface/transformers src/transformers/models/*/modeling_*.py: _no_split_modules",
        "github.com/huggingface/accelerate issue 1943",
    ),
    needs=("fsdp_transformer_layer_cls_to_wrap",),
)
def fsdp_layer_of_other_model(project: Project) -> Iterator[Problem]:
    """Layers that the model does not have."""
    for config in accelerate_configs(project):
        written = mapping(config.tree, "fsdp_config").get(FIELD)
        if not isinstance(written, str) or written not in OF_FAMILY.values():
            continue
        for _, _, script in scripts(config, project):
            model = script.option("--model-name-or-path", "--model-name", "--model", "--model-id") or ""
            layer = _layer(model)
            if layer is not None and layer != written:
                message = f"{FIELD} is {written}, but the layers of `{model}` are {layer}: FSDP finds none to wrap"
                yield Problem(config.at.child("fsdp_config", FIELD), message, f"write {layer}")
                break


def _layer(model: str) -> str | None:
    """Returns the class of the layers of a model of the Hub, None if its name does not tell it."""
    if model.startswith(("/", ".")) or "$" in model:
        return None
    name = model.rpartition("/")[2].lower()
    return next((layer for family, layer in OF_FAMILY.items() if re.match(family, name)), None)
