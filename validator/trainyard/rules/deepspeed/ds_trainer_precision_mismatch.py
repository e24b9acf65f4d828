"""The DeepSpeed configuration and the arguments of Hugging Face's Trainer choose different precisions.

A script that receives the file by `--deepspeed FILE` builds its Trainer from arguments such as `--bf16`. Trainer
compares `fp16.enabled` and `bf16.enabled` with these arguments and stops with "Please correct the following DeepSpeed
config values that mismatch TrainingArguments values", or accelerate stops before with "`--mixed_precision` arg cannot
be set to `bf16` when `fp16` is set in the DeepSpeed config file".

The rule compares with `--fp16` and `--bf16` in the command, also with `--fp16=False`. Without either it reports
nothing, because the script may set the precision itself.

Write `auto` for `enabled` of both sections: each takes the argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.hugging_face import ARGUMENT_FALSE
from trainyard.loaders.manifests.deepspeed import commands_of_trainer
from trainyard.model.run import Command, DeepSpeed

PRECISIONS = ("fp16", "bf16")


@rule(
    code="DS021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/transformers 5.23.0 src/transformers/integrations/deepspeed.py: fill_match, fp16.enabled",
        "github.com/shibing624/MedicalGPT issue 288",
    ),
    fix="unsafe",
)
def ds_trainer_precision_mismatch(deepspeed: DeepSpeed, context: Context) -> Iterator[Problem]:
    """Report a precision that contradicts the command."""
    if context.run is None:
        return
    for command in commands_of_trainer(context.run):
        chosen = next((name for name in PRECISIONS if _on(command, name)), None)
        for name in PRECISIONS:
            enabled = mapping(deepspeed.config, name).get("enabled")
            argument = f"--{chosen}" if chosen is not None else f"--{name}={_value(command, name)}"
            known = chosen is not None or _value(command, name).lower() in ARGUMENT_FALSE
            if known and isinstance(enabled, bool) and enabled is not (name == chosen):
                at = deepspeed.at.child(name, "enabled")
                yield Problem(
                    at,
                    f"`{name}.enabled` is {str(enabled).lower()}, but Trainer has `{argument}`: it stops at start-up",
                    'write "auto", which takes the argument',
                    (SetValue(at, "auto"),),
                    related=((command.word_at[0], "the command"),),
                )


def _value(command: Command, name: str) -> str:
    return command.option(f"--{name}") or ""


def _on(command: Command, name: str) -> bool:
    option = f"--{name}"
    value = command.option(option)
    return command.has(option) and (value is None or value.lower() not in ARGUMENT_FALSE)
