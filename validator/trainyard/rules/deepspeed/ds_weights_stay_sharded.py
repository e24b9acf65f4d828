"""ZeRO stage 3 does not gather the weights when the Trainer saves, so there is no model that others can load.

With stage 3 each rank holds a part of each weight. `stage3_gather_16bit_weights_on_model_save` makes DeepSpeed collect
them on rank 0. With `false`, the Trainer of Transformers saves the parts of the ranks alone, and older releases leave
a model file of some hundred kilobytes.

The rule applies to a file that a command hands to the Trainer. It leaves out `--save_strategy no`, and scripts that
call `zero_to_fp32.py` afterwards.

Write `true`. It needs memory for all weights on rank 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.deepspeed import commands_of_trainer
from trainyard.model.run import DeepSpeed, Run

ZERO = "zero_optimization"
# The second one is the name in releases before 0.6.
KEYS = ("stage3_gather_16bit_weights_on_model_save", "stage3_gather_fp16_weights_on_model_save")
LAST_STAGE = 3
CONVERTER = "zero_to_fp32"


@rule(
    code="DS045",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/transformers 5.23.0 src/transformers/trainer.py: save_model, Saving the full checkpoint instead",
        "github.com/lm-sys/FastChat issue 508",
    ),
    fix="unsafe",
)
def ds_weights_stay_sharded(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report stage 3 whose weights nothing gathers."""
    zero = mapping(deepspeed.config, ZERO)
    if zero.get("stage") != LAST_STAGE or context.run is None or not _saves(context.run):
        return
    for key in KEYS:
        if zero.get(key) is False:
            at = deepspeed.at.child(ZERO, key)
            yield Problem(
                at,
                f"{key} is off: with ZeRO stage 3, the Trainer saves no model that others can load",
                "write `true`, or convert the checkpoint with `zero_to_fp32.py`",
                (SetValue(at, True),),
            )


def _saves(run: Run) -> bool:
    """True if the Trainer of a run saves a model, and no script converts its parts."""
    if any(CONVERTER in script.text for container in run.containers for script in container.scripts):
        return False
    return any(command.option("--save-strategy") != "no" for command in commands_of_trainer(run))
