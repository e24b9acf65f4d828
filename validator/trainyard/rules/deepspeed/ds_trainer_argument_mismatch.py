"""A number in the DeepSpeed configuration differs from an argument of Hugging Face's Trainer, which stops at start-up.

A script that receives the file by `--deepspeed FILE` builds its Trainer from arguments such as
`--per_device_train_batch_size`. Trainer compares the file with these arguments and raises a ValueError, "Please correct
the following DeepSpeed config values that mismatch TrainingArguments values", for each number that differs.

An argument that the command leaves out has Trainer's default: 8 samples per device and 1 accumulation step. The rule
uses these defaults only in a command with `--output_dir`, because other scripts take their arguments from a file. It
does not compare the batch size with `--auto_find_batch_size`.

Trainer also compares `train_batch_size` with the product of the two arguments and the number of processes. The rule
compares it where the run's data-parallel processes are known.

Write `auto`, which takes the argument, or give both the same number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import finite_number
from trainyard.loaders.manifests.deepspeed import commands_of_trainer, data_parallel_sizes
from trainyard.model.run import Command, DeepSpeed, Run

MICRO_BATCH = "train_micro_batch_size_per_gpu"
ARGUMENTS = (
    ((MICRO_BATCH,), "per_device_train_batch_size"),
    (("gradient_accumulation_steps",), "gradient_accumulation_steps"),
    (("gradient_clipping",), "max_grad_norm"),
    (("optimizer", "params", "lr"), "learning_rate"),
    (("optimizer", "params", "eps"), "adam_epsilon"),
    (("optimizer", "params", "weight_decay"), "weight_decay"),
    (("scheduler", "params", "warmup_max_lr"), "learning_rate"),
)
# Subclasses of TrainingArguments have other defaults for the rest.
DEFAULTS = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1}


@rule(
    code="DS015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/transformers 5.23.0 src/transformers/integrations/deepspeed.py: fill_match",
        "huggingface/transformers 5.23.0 src/transformers/training_args.py: TrainingArguments",
    ),
)
def ds_trainer_argument_mismatch(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report numbers that differ from the arguments of Trainer in the command."""
    if context.run is None:
        return
    for command in commands_of_trainer(context.run):
        for path, argument in ARGUMENTS:
            number = finite_number(mapping(deepspeed.config, *path[:-1]).get(path[-1]))
            told = _argument(command, argument)
            if number is None or told is None or math.isclose(number, told):
                continue
            if path[-1] == MICRO_BATCH and command.has("--auto-find-batch-size"):
                continue
            yield Problem(
                deepspeed.at.child(*path),
                f"{path[-1]} {number:g} differs from {told:g}, Trainer's {argument}: Trainer stops at start-up",
                f"add `--{argument} {number:g}` to the command, or write `auto` in the file",
                related=((command.word_at[0], "the command"),),
            )
        yield from _total(deepspeed, context.run, command)


def _total(deepspeed: DeepSpeed, run: Run, command: Command) -> Iterator[Problem]:
    """Compares `train_batch_size` where the file leaves the other two to Trainer; else DS001 or the above finds it."""
    config = deepspeed.config
    micro, steps = (_argument(command, name) for name in DEFAULTS)
    total, worlds = finite_number(config.get("train_batch_size")), data_parallel_sizes(run, config)
    left = any(finite_number(config.get(name)) is None for name in (MICRO_BATCH, "gradient_accumulation_steps"))
    if total is None or micro is None or steps is None or not left or command.has("--auto-find-batch-size"):
        return
    products = [micro * steps * world for world in worlds]
    if products and total not in products:
        told = f"{micro:g} per device x {steps:g} accumulation steps x {worlds[0]} processes"
        yield Problem(
            deepspeed.at.child("train_batch_size"),
            f"train_batch_size {total:g} differs from Trainer's {told}: Trainer stops at start-up",
            "write `auto`, which takes the arguments",
            related=((command.word_at[0], "the command"),),
        )


def _argument(command: Command, name: str) -> float | None:
    """Returns the value that the script passes to Trainer; None if the command does not tell."""
    option = f"--{name.replace('_', '-')}"
    value = command.option(option)
    if value is not None:
        return finite_number(value)
    reads_file = command.has("--config") or any(word.endswith((".yaml", ".yml")) for word in command.words)
    return DEFAULTS.get(name) if command.has("--output-dir") and not reads_file and not command.has(option) else None
