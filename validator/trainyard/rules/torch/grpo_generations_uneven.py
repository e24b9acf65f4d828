"""The batch of all processes is no multiple of the generations of GRPO, so TRL stops at start-up.

GRPO compares several answers to each prompt. All answers to a prompt must be in one generation batch, which is
`per_device_train_batch_size` times the number of processes times `gradient_accumulation_steps`. TRL refuses a batch
that is no multiple of `num_generations`: "The global train batch size must be evenly divisible by the number of
generations per prompt". A process that vLLM takes for generation is missing from the count. A single answer has none to
compare with, so `num_generations` is at least 2.

The rule knows the number of processes from `accelerate launch` or the run, and reads the file of the option `--config`
if a ConfigMap holds it. It leaves out ms-swift, which has a launcher of its own.

Choose a number of generations that divides the batch, or another batch size.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.trainer_files import with_file
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import SWIFT
from trainyard.model.run import Command, Container

SIZE, STEPS = "--per-device-train-batch-size", "--gradient-accumulation-steps"
_OF_SWIFT = (SWIFT, "megatron")
# With one of these, the generation batch is another one.
OTHER = ("--generation-batch-size", "--steps-per-generation", "--num-generations-eval")


@rule(
    code="TD052",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/trl trl/trainer/grpo_trainer.py and grpo_config.py: num_generations, generation_batch_size",
        "huggingface/trl v1.9.0 trl/trainer/grpo_config.py: GRPO requires at least 2 generations per prompt",
        "github.com/huggingface/open-r1 issue 249, github.com/huggingface/trl pull 3199",
    ),
    needs=("num_generations", "num-generations"),
)
def grpo_generations_uneven(container: Container, context: Context) -> Iterator[Problem]:
    """Report numbers of generations that do not divide the batch."""
    for command in container.commands:
        # ms-swift starts its own processes, and trains by distillation with one answer.
        if command.program in _OF_SWIFT or any("swift/" in word for word in command.words if word.endswith(".py")):
            continue
        told = with_file(command, container, context)
        generations = told.option_at("--num-generations")
        if generations is not None and generations[0] in ("0", "1") and _is_grpo(command):
            message = (
                f"GRPO compares answers to a prompt, and num_generations is {generations[0]}: TRL stops at start-up"
            )
            yield Problem(generations[1], message, "write at least 2", related=((command.word_at[0], "the command"),))
            continue
        number, size = decimal(generations[0]) if generations is not None else None, decimal(told.option(SIZE) or "")
        steps, processes = decimal(told.option(STEPS) or "1"), _processes(command, context)
        if generations is None or not number or not size or not steps or not processes or told.has(*OTHER):
            continue
        batch = processes * size * steps
        if batch % number:
            yield Problem(
                generations[1],
                f"the batch of all processes is {processes} x {size} x {steps} = {batch}, no multiple of "
                f"num_generations {number}: GRPO stops",
                "choose a number that divides the batch",
                related=((command.word_at[0], "the command"),),
            )


def _is_grpo(command: Command) -> bool:
    """True if the command names GRPO; other trainers have a `num_generations` too."""
    return any("grpo" in word.lower() for word in command.words)


def _processes(command: Command, context: Context) -> int | None:
    """Returns the number of processes that train; None if the files do not tell."""
    told = command.option("--num-processes") if "accelerate" in command.words[:2] else None
    if told is not None:
        return decimal(told)
    return context.run.world_size if context.run is not None else None
