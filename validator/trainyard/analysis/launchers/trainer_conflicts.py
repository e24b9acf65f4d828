"""Arguments of Hugging Face's Trainer that exclude each other.

Source: huggingface/transformers 5.23.0 training_args.py: __post_init__ and _validate_args; trainer.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.launchers.trainer_flags import flag_on
from trainyard.document.document import Place
from trainyard.model.run import Command


class Conflict(NamedTuple):
    """A combination that Trainer refuses, at the place of one of the arguments, and what to write instead."""

    at: Place
    message: str
    help: str


def conflicts(command: Command) -> Iterator[Conflict]:
    """Yields the conflicts among the arguments of a command."""
    half, brain = flag_on(command, "--fp16"), flag_on(command, "--bf16")
    if half is not None and brain is not None:
        yield Conflict(brain, "the Trainer takes one of --fp16 and --bf16, and stops with both", "remove one")
    evaluates = command.option("--eval-strategy", "--evaluation-strategy") or "no"
    yield from _without(command, evaluates)
    best = flag_on(command, "--load-best-model-at-end")
    if best is not None:
        yield from _best(command, best, evaluates)


def _without(command: Command, evaluates: str) -> Iterator[Conflict]:
    """Arguments that do not go without another."""
    scheduler = command.option_at("--lr-scheduler-type")
    if scheduler is not None and scheduler[0] == "reduce_lr_on_plateau" and evaluates == "no":
        yield Conflict(scheduler[1], "reduce_lr_on_plateau needs evaluations: the Trainer stops", "set --eval_strategy")
    factor = command.option_at("--dataloader-prefetch-factor")
    if factor is not None and factor[0].isdecimal() and command.option("--dataloader-num-workers") in (None, "0"):
        message = "--dataloader_prefetch_factor needs workers, and the Trainer has none: it stops"
        yield Conflict(factor[1], message, "set --dataloader_num_workers")


def _best(command: Command, best: Place, evaluates: str) -> Iterator[Conflict]:
    """Conflicts of `load_best_model_at_end` with the arguments for saves and evaluations."""
    saves = command.option("--save-strategy") or "steps"
    if "$" not in evaluates + saves and evaluates != saves and saves != "best":
        yield Conflict(
            best,
            f"--load_best_model_at_end needs one strategy for both: the Trainer evaluates by `{evaluates}` and saves "
            f"by `{saves}`",
            "write the same for --eval_strategy and --save_strategy",
        )
    every, each = command.option_at("--save-steps"), command.option("--eval-steps") or ""
    counted = evaluates == saves == "steps" and every is not None and every[0].isdecimal() and each.isdecimal()
    if every is not None and counted and int(each) and int(every[0]) % int(each):
        message = f"--save_steps is {every[0]}, no multiple of --eval_steps {each}: the Trainer stops"
        yield Conflict(every[1], message, f"write a multiple of {each}")
    alone, sharded = flag_on(command, "--save-only-model"), command.option("--deepspeed", "--fsdp")
    if alone is not None and sharded and not sharded.startswith("-"):
        yield Conflict(
            alone,
            "--save_only_model leaves out what --load_best_model_at_end needs with DeepSpeed or FSDP: the Trainer "
            "stops",
            "remove one of the two",
        )
