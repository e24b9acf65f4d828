"""The deepspeed launcher ignores `CUDA_VISIBLE_DEVICES`, because the command chooses the GPUs too.

With `--num_gpus`, `--include` or `--exclude`, or with a hostfile, the launcher sets the variable itself
for each process: `--num_gpus=2` uses the GPUs 0 and 1, whatever the environment says. A warning, "Detected
CUDA_VISIBLE_DEVICES ... but ignoring it", is the only sign. In a pod the variable is seldom useful: the device plugin
already gives the container its own GPUs.

Remove the variable, or write `--include=localhost:2,3` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value, remove_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Setting

VARIABLE = "CUDA_VISIBLE_DEVICES"
OPTIONS = ("--num-gpus", "--include", "--exclude", "--hostfile", "-H", "-i", "-e")


@rule(
    code="DS020",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.6 launcher/runner.py: main, visible_devices",
        "deepspeed.ai/getting-started: CUDA_VISIBLE_DEVICES; github.com/deepspeedai/DeepSpeed issue 3069",
    ),
    fix="unsafe",
    needs=(VARIABLE,),
)
def ds_visible_devices_ignored(setting: Setting, context: Context) -> Iterator[Problem]:
    """A choice of GPUs that the launcher overrides."""
    if setting.name != VARIABLE or context.container is None or not literal_value(setting):
        return
    for command in context.container.commands:
        if command.program != "deepspeed":
            continue
        end = next((n for n, word in enumerate(command.words) if word.endswith(".py")), len(command.words))
        own = command._replace(words=command.words[:end], word_at=command.word_at[:end])
        option = next((name for name in OPTIONS if own.has(name)), None)
        if option is not None:
            yield Problem(
                setting.at,
                f"deepspeed ignores {VARIABLE}={setting.value}, because the command has {option}",
                "remove the variable",
                remove_variable(setting),
            )
            return
