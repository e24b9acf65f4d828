"""Hugging Face's Trainer does not take the value of its argument, so every process stops at start-up.

Each argument has a type: a count is a whole number, and a switch is one of `true`, `false`, `yes`, `no`, `1` and `0`.
`--eval_strategy` is `no`, `steps` or `epoch`. Optimizers and schedulers of the learning rate have fixed names.

The rule looks at commands with `--per_device_train_batch_size`, which only this Trainer has. It knows the words of all
releases since 4.0.

Write a value that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.option_values import fits, is_told, wanted
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.option_forms import TRAINER
from trainyard.model.run import Command


@rule(
    code="TD043",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 training_args.py: TrainingArguments, OptimizerNames; hf_argparser.py: string_to_bool",
        "transformers 5.23.0 trainer_utils.py: ExplicitEnum, SchedulerType, IntervalStrategy, SaveStrategy",
    ),
    needs=("per_device_train_batch_size", "per-device-train-batch-size"),
)
def trainer_value_refused(command: Command) -> Iterator[Problem]:
    """Report values that the Trainer does not take."""
    if not command.has("--per-device-train-batch-size"):
        return
    for index, word in enumerate(command.words):
        name, equals, value = word.partition("=")
        form = TRAINER.get(name.replace("_", "-"))
        if form is None:
            continue
        after = command.words[index + 1] if index + 1 < len(command.words) else ""
        # A switch may stand alone, and an option of another program may have the same name.
        if not equals and (not after or after.startswith("--") or after in ("&&", "||", ";", "|", "2>&1", ">")):
            continue
        written = value if equals else after
        if is_told(written) and not fits(written, form):
            at = command.word_at[index if equals else index + 1]
            yield Problem(at, f"{name} is `{written}`, which the Trainer refuses: it stops", wanted(written, form))
