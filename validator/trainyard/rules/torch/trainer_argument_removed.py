"""Hugging Face's Trainer has no such argument in the installed release, so every process stops at start-up.

`--evaluation_strategy` is `--eval_strategy` since transformers 4.41, and 4.46 removed the former name. Release 5
removed `--overwrite_output_dir`, `--no_cuda` and others, and a later one `--warmup_ratio` and `--logging_dir`. The
parser ends with "Some specified arguments are not used by the HfArgumentParser".

The rule looks at commands with `--per_device_train_batch_size` in a script that installs a release of transformers by
its number.

Write what the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.trainer_flags import with_underscores
from trainyard.analysis.scripts.pins import pinned
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.hugging_face import LATE_ARGUMENTS, REMOVED_ARGUMENTS
from trainyard.model.run import Container

_SIGN = "--per-device-train-batch-size"


@rule(
    code="TD079",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/transformers MIGRATION_GUIDE_V5.md: Removing arguments in `TrainingArguments`",
        "transformers 5.23.0 training_args.py: TrainingArguments has neither warmup_ratio nor logging_dir",
        "transformers 4.46.0 training_args.py: eval_strategy; 4.41.0: evaluation_strategy is deprecated",
        "github.com/huggingface/transformers pulls 30190 and 39109",
    ),
    needs=("transformers==",),
)
def trainer_argument_removed(container: Container) -> Iterator[Problem]:
    """Report arguments that the installed release does not have."""
    release = pinned(container, "transformers")
    if release is None:
        return
    number = ".".join(map(str, release))
    for command in container.commands:
        for word, at in zip(command.words, command.word_at, strict=True) if command.has(_SIGN) else ():
            name = word.partition("=")[0].replace("_", "-")
            until, present = REMOVED_ARGUMENTS.get(name, (None, ""))
            since, earlier = LATE_ARGUMENTS.get(name, (None, ""))
            if (until is not None and release >= until) or (since is not None and release < since):
                shown = with_underscores(name)
                instead = present or earlier
                help_ = f"use {instead}" if instead else "remove it"
                yield Problem(at, f"transformers {number} has no {shown}: every process stops", help_)
