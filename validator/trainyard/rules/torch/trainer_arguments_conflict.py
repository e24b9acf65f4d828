"""Arguments of Hugging Face's Trainer exclude each other, so every process stops at start-up.

`TrainingArguments` takes one of `--fp16` and `--bf16`. `--load_best_model_at_end` needs a checkpoint for each
evaluation, so `--eval_strategy` and `--save_strategy` must be the same: by default, the Trainer saves every 500 steps
and never evaluates.

The rule looks at commands with `--per_device_train_batch_size`, which only this Trainer has.

Remove one of the two, or write the same strategy for both.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command

_FALSE = frozenset(("false", "no", "f", "n", "0", "off"))


@rule(
    code="TD035",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "transformers 5.23.0 training_args.py: __post_init__ and _validate_args, `At most one of fp16 and bf16`",
        "transformers 5.23.0 training_args.py: `--load_best_model_at_end requires the save and eval strategy to match`",
    ),
    needs=("per_device_train_batch_size", "per-device-train-batch-size"),
)
def trainer_arguments_conflict(command: Command) -> Iterator[Problem]:
    """Report arguments that the Trainer refuses together."""
    if not command.has("--per-device-train-batch-size"):
        return
    half, brain = _flag(command, "--fp16"), _flag(command, "--bf16")
    if half is not None and brain is not None:
        yield Problem(brain, "the Trainer takes one of --fp16 and --bf16, and stops with both", "remove one")
    best = _flag(command, "--load-best-model-at-end")
    if best is None:
        return
    evaluates = command.option("--eval-strategy", "--evaluation-strategy") or "no"
    saves = command.option("--save-strategy") or "steps"
    if "$" not in evaluates + saves and evaluates != saves and saves != "best":
        yield Problem(
            best,
            f"--load_best_model_at_end needs one strategy for both: the Trainer evaluates by `{evaluates}` and saves "
            f"by `{saves}`",
            "write the same for --eval_strategy and --save_strategy",
        )


def _flag(command: Command, name: str) -> Place | None:
    """Returns the place of a flag that is on."""
    for word, at, after in zip(command.words, command.word_at, (*command.words[1:], ""), strict=True):
        option, equals, value = word.partition("=")
        if option.replace("_", "-") == name:
            told = value if equals else after
            return None if told.lower() in _FALSE or "$" in told else at
    return None
