"""The DeepSpeed configuration gives no batch size, so every process stops at start-up.

DeepSpeed needs `train_batch_size` or `train_micro_batch_size_per_gpu`; `gradient_accumulation_steps` alone does not
say how many samples a step takes. It has no default for either: the assertion "Either train_batch_size or
train_micro_batch_size_per_gpu needs to be provided" ends the run after the GPUs were taken and the model was built.

Found where DeepSpeed reads the file on its own (`--deepspeed_config FILE`). Libraries that fill in the size, such as
Lightning or a script that edits the mapping, are left alone, and so is elastic training, which chooses the batch
itself.

Write `train_micro_batch_size_per_gpu`: it holds for any number of GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.deepspeed import enabled
from validator.model import DeepSpeed
from validator.roads.deepspeeds import loads_itself
from validator.rule import Context, Problem, rule


@rule(
    code="DS002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._set_batch_related_parameters",),
)
def ds_batch_missing(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Neither of the two batch sizes of which DeepSpeed needs one."""
    config = deepspeed.config
    if context.run is None or not loads_itself(context.run) or enabled(config, "elasticity"):
        return
    if config.get("train_batch_size") is None and config.get("train_micro_batch_size_per_gpu") is None:
        yield Problem(
            deepspeed.at.child("gradient_accumulation_steps")
            if "gradient_accumulation_steps" in config
            else deepspeed.at,
            "DeepSpeed finds neither train_batch_size nor train_micro_batch_size_per_gpu and stops at start-up",
            "write train_micro_batch_size_per_gpu",
        )
