"""Arguments of Hugging Face's Trainer exclude each other, so every process stops at start-up.

`TrainingArguments` takes one of `--fp16` and `--bf16`. `--load_best_model_at_end` needs a checkpoint for each
evaluation, so `--eval_strategy` and `--save_strategy` must be the same: by default, the Trainer saves every 500 steps
and never evaluates. By steps, `--save_steps` must be a multiple of `--eval_steps`. With DeepSpeed or FSDP, it excludes
`--save_only_model`. The scheduler `reduce_lr_on_plateau` needs evaluations, and `--dataloader_prefetch_factor` needs
`--dataloader_num_workers`.

The rule looks at commands with `--per_device_train_batch_size`, which only this Trainer has.

Remove one of the two, or write the same strategy for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.trainer_conflicts import conflicts
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command


@rule(
    code="TD035",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "transformers 5.23.0 training_args.py: __post_init__ and _validate_args, `At most one of fp16 and bf16`",
        "transformers 5.23.0 training_args.py: `--load_best_model_at_end requires the save and eval strategy to match`",
        "transformers 5.23.0 trainer.py: `can't be used with save_only_model along with load_best_model_at_end`",
    ),
    needs=("per_device_train_batch_size", "per-device-train-batch-size"),
)
def trainer_arguments_conflict(command: Command) -> Iterator[Problem]:
    """Report arguments that the Trainer refuses together."""
    if not command.has("--per-device-train-batch-size"):
        return
    for found in conflicts(command):
        yield Problem(*found)
