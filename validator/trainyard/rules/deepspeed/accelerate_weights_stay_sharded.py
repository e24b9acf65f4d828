"""accelerate does not collect the weights of ZeRO stage 3, so the training ends without a model that others can load.

With stage 3 each rank holds a part of each weight. `zero3_save_16bit_model` sets
`stage3_gather_16bit_weights_on_model_save` of DeepSpeed, which collects them on rank 0. Without it,
`Accelerator.get_state_dict` and `save_model` fail with "Cannot get 16bit model weights". The Trainer of Transformers
catches the error, and saves the parts of the ranks alone. `accelerate config` writes `false` unless somebody says yes.

Write `zero3_save_16bit_model: true`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="DS033",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 16cb6eb8 src/accelerate/accelerator.py lines 4028-4050: get_state_dict; "
        "commands/config/cluster.py line 303",
        "github.com/huggingface/accelerate issue 883",
    ),
    needs=("zero3_save_16bit_model",),
)
def accelerate_weights_stay_sharded(project: Project) -> Iterator[Problem]:
    """Report stage 3 whose weights nothing collects."""
    for config in accelerate_configs(project):
        section = mapping(config.tree, "deepspeed_config")
        if config.tree.get("distributed_type") != "DEEPSPEED" or section.get("zero_stage") != 3:
            continue
        # A file beside it has a rule of its own.
        if section.get("zero3_save_16bit_model") is False and "deepspeed_config_file" not in section:
            yield Problem(
                config.at.child("deepspeed_config", "zero3_save_16bit_model").key(),
                "zero3_save_16bit_model is off: with ZeRO stage 3, accelerate saves no model that others can load",
                "write `true`",
            )
