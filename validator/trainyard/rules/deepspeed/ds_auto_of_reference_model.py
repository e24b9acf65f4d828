"""DeepSpeed starts the reference model with a scheduler whose steps are still `auto`, and the run stops.

DPO and KTO start a second engine for their reference model, from the same file. They do so before training, when
Hugging Face's Trainer has not yet replaced `total_num_steps` and `warmup_num_steps`: it learns their values from the
length of the training. Because the file has an optimizer, DeepSpeed makes one for the reference model too, and its
scheduler fails with a TypeError.

The rule knows `--stage dpo` and `kto` of LLaMA-Factory with `--finetuning_type full` or `freeze`, and `trl dpo` and
`kto` without `--use_peft`. Others have no reference model of their own.

Remove the sections `optimizer` and `scheduler`: Trainer makes them from its arguments. Or write numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, DeepSpeed

_STAGES = ("dpo", "kto")
# Steps that Trainer fills in when it starts to train.
_STEPS = ("total_num_steps", "warmup_num_steps")
_AUTO = "auto"
_WITHOUT = ("orpo", "simpo")


@rule(
    code="DS034",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/trl v1.9.0 trl/models/utils.py: prepare_deepspeed",
        "hiyouga/LLaMA-Factory v0.9.5 src/llamafactory/train/dpo/trainer.py, train/trainer_utils.py: create_ref_model",
        "huggingface/transformers 5.23.0 src/transformers/integrations/deepspeed.py: trainer_config_finalize",
        "deepspeedai/DeepSpeed 0.19.8 runtime/engine.py: has_optimizer, _scheduler_from_config",
        "github.com/hiyouga/LlamaFactory issue 809",
    ),
    needs=(*_STAGES,),
)
def ds_auto_of_reference_model(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report steps of a scheduler that nobody fills in for a reference model."""
    config = deepspeed.config
    steps = mapping(config, "scheduler", "params")
    left = [name for name in _STEPS if steps.get(name) == _AUTO]
    if context.run is None or not left or not text(config, "optimizer", "type"):
        return
    command = next((one for one in context.run.commands if _has_reference(one)), None)
    if command is not None:
        yield Problem(
            deepspeed.at.child("scheduler", "params", left[0]),
            f"DeepSpeed starts the reference model before Trainer replaces `{left[0]}`: it stops at `auto`",
            "remove the sections `optimizer` and `scheduler`, or write a number",
            related=((command.word_at[0], "the command"),),
        )


def _has_reference(command: Command) -> bool:
    if command.option("--stage") in _STAGES:
        is_whole = command.option("--finetuning-type") in ("full", "freeze")
        return is_whole and command.option("--pref-loss") not in _WITHOUT
    words = command.words
    of_module = any(word.startswith("trl.scripts.") and word.rpartition(".")[2] in _STAGES for word in words)
    of_program = "trl" in words and any(one in words for one in _STAGES)
    return (of_module or of_program) and not command.has("--use-peft", "--precompute-ref-log-probs")
