"""A switch of the launcher has a value, so the launcher takes the value for the training script, or stops at once.

`--multi_gpu`, `--same_network`, `--use_deepspeed`, `--standalone` and `--no_local_rank` take no value. In
`accelerate launch --same_network false train.py` the first word that is no option is `false`: Python cannot open a file
of this name. `--same_network=false` ends in "ignored explicit argument".

The rule knows the switches of torchrun, accelerate and deepspeed.

Remove the value, and the switch too if it says no.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import starts
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_VALUES = frozenset(("true", "false", "yes", "no", "on", "off", "1", "0", "none"))
# Behind these, any word may be the program.
_OF_PROGRAMS = ("-m", "--module", "--no-python")


@rule(
    code="SC050",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 1.15.0 commands/launch.py: launch_command_parser, action=store_true",
        "pytorch 2.15.0 torch/distributed/run.py: get_args_parser; deepspeedai/DeepSpeed 0.19.8 launcher/runner.py",
        "Python argparse: ignored explicit argument; github.com/huggingface/accelerate issue 1489",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate"),
)
def launcher_switch_has_value(container: Container) -> Iterator[Problem]:
    """Report values of options that take none."""
    for start in starts(container):
        for word, index in start.options:
            name, equals, value = word.partition("=")
            if equals and name.replace("_", "-") in start.launcher.flags and name.startswith("--"):
                message = f"`{name}` takes no value: {start.name} stops at `{value}`"
                yield Problem(start.place(index), message, _help(name, value))
        told = start.command.words[start.program] if start.program is not None else ""
        if start.program is None or not start.options or told.lower() not in _VALUES or start.has(*_OF_PROGRAMS):
            continue
        last, index = start.options[-1]
        if index == start.program - 1:
            message = f"`{last}` takes no value: {start.name} starts `{told}` as the training script"
            yield Problem(start.place(start.program), message, _help(last, told))


def _help(name: str, value: str) -> str:
    return "remove the value" if value.lower() in ("true", "yes", "on", "1") else f"remove `{name}` and its value"
