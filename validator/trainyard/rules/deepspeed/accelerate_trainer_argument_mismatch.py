"""The accelerate configuration and the script's arguments give different numbers to DeepSpeed.

`deepspeed_config.gradient_accumulation_steps` and `gradient_clipping` of the file that `accelerate launch` reads become
values of DeepSpeed's configuration. Hugging Face's Trainer compares them with `--gradient_accumulation_steps` and
`--max_grad_norm` and stops with "Please correct the following DeepSpeed config values that mismatch TrainingArguments
values". In a script without Trainer, the file has precedence over the argument without a message.

Give both the same number. The rule compares only arguments in the command.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import accelerate_configs, scripts
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import finite_number
from trainyard.model.run import Project

ARGUMENTS = (
    ("gradient_accumulation_steps", "--gradient-accumulation-steps"),
    ("gradient_clipping", "--max-grad-norm"),
)


@rule(
    code="DS022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "huggingface/transformers 5.23.0 src/transformers/integrations/deepspeed.py: propagate_args_to_deepspeed",
        "huggingface/accelerate 1.15.0 src/accelerate/utils/dataclasses.py: DeepSpeedPlugin.__post_init__",
        "github.com/hiyouga/LlamaFactory issue 201",
    ),
    needs=("deepspeed_config",),
)
def accelerate_trainer_argument_mismatch(project: Project) -> Iterator[Problem]:
    """Numbers that differ from the arguments of the script."""
    for config in accelerate_configs(project):
        section = mapping(config.tree, "deepspeed_config")
        if config.tree.get("distributed_type") != "DEEPSPEED":
            continue
        for _, launch, script in scripts(config, project):
            for name, option in ARGUMENTS:
                written, told = finite_number(section.get(name)), finite_number(script.option(option))
                # An option of accelerate has precedence over the file.
                overridden = launch.has(f"--{name.replace('_', '-')}")
                if written is None or told is None or math.isclose(written, told) or overridden:
                    continue
                yield Problem(
                    config.at.child("deepspeed_config", name),
                    f"`{name}` is {written:g}, but the script gets {told:g}: Hugging Face's Trainer stops at start-up",
                    "write the same number in both places",
                    related=((launch.word_at[0], "the command"),),
                )
