"""Hugging Face's Trainer does not search a batch size under ZeRO stage 3, so every process stops at start-up.

With `--auto_find_batch_size`, the Trainer halves the batch size after each error of memory and starts again. It refuses
this with stage 3: "auto_find_batch_size isn't supported yet with DeepSpeed Zero-3". Stages 1 and 2 work. Releases of
transformers before 4.39 do not check this, so the rule leaves out scripts that install one.

Remove the argument, or use another stage.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.trainer_flags import flag_on
from trainyard.analysis.scripts.pins import installs_before
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.hugging_face import BATCH_SEARCH_CHECKED
from trainyard.loaders.manifests.deepspeed import commands_of_trainer
from trainyard.model.run import DeepSpeed


@rule(
    code="DS031",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 trainer.py: `auto_find_batch_size` isn't supported yet with DeepSpeed Zero-3",
        "github.com/huggingface/transformers pulls 29058 and 31731",
    ),
)
def ds_batch_search_stage3(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report a search of the batch size with stage 3."""
    if context.run is None or integer(mapping(deepspeed.config, "zero_optimization"), "stage") != 3:
        return
    if installs_before(context.run.containers, "transformers", BATCH_SEARCH_CHECKED):
        return
    for command in commands_of_trainer(context.run):
        at = flag_on(command, "--auto-find-batch-size")
        if at is not None:
            yield Problem(
                deepspeed.at.child("zero_optimization", "stage"),
                "the Trainer refuses --auto_find_batch_size with stage 3: every process stops at start-up",
                "remove --auto_find_batch_size, or use stage 2",
                related=((at, "the argument"),),
            )
