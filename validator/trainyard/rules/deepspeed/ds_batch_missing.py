"""The DeepSpeed configuration sets no batch size, so every process stops at start-up.

DeepSpeed needs `train_batch_size` or `train_micro_batch_size_per_gpu` and has no default for either;
`gradient_accumulation_steps` alone does not determine the number of samples in a step. The assertion "Either
train_batch_size or train_micro_batch_size_per_gpu needs to be provided" ends the run after the GPUs are allocated and
the model is built.

The rule applies where DeepSpeed reads the file itself (`--deepspeed_config FILE`). It skips libraries that fill in the
size, such as Lightning or a script that edits the mapping, and elastic training, which chooses the batch itself.

Write `train_micro_batch_size_per_gpu`: it is valid for any number of GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.deepspeed import enabled
from trainyard.loaders.manifests.deepspeed import loads_itself
from trainyard.model.run import DeepSpeed


@rule(
    code="DS002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig._set_batch_related_parameters",),
)
def ds_batch_missing(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report a configuration without either batch size."""
    config = deepspeed.config
    if context.run is None or not loads_itself(context.run) or enabled(config, "elasticity"):
        return
    if config.get("train_batch_size") is None and config.get("train_micro_batch_size_per_gpu") is None:
        yield Problem(
            deepspeed.at.child("gradient_accumulation_steps")
            if "gradient_accumulation_steps" in config
            else deepspeed.at,
            "neither train_batch_size nor train_micro_batch_size_per_gpu is set: DeepSpeed stops at start-up",
            "write train_micro_batch_size_per_gpu",
        )
