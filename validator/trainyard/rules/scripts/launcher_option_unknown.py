"""An option before the program is none of the launcher's, so the launcher stops before it starts any rank.

torchrun, accelerate and deepspeed read the options before the name of the script, and pass those behind it to the
script. An option of the script in front of it, or a misspelt one, ends the launcher with "unrecognized arguments".

The rule knows the options of all releases since PyTorch 1.9, Accelerate 0.5 and DeepSpeed 0.5, and their abbreviations.

Move an option of the script behind the script, or correct the spelling.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import is_option, starts
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Container


@rule(
    code="SC015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: get_args_parser, with the options of 1.9 and later",
        "huggingface/accelerate 1.15.0 commands/launch.py: launch_command_parser, with the options of 0.5 and later",
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: parse_args; github.com/deepspeedai/DeepSpeed issue 3381",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate"),
)
def launcher_option_unknown(container: Container) -> Iterator[Problem]:
    """Report options that a launcher does not take."""
    for start in starts(container):
        if start.program is not None or not start.options:
            continue
        word, index = start.options[-1]
        name = word.partition("=")[0]
        # `torchrun -c CODE` has a rule of its own.
        if is_option(word, start.launcher) or name == "-c" or "$" in name or "{" in name or not name.strip("-"):
            continue
        near = closest_match(name.replace("_", "-"), sorted(start.launcher.valued + start.launcher.flags), 0.8)
        yield Problem(
            start.place(index),
            f"{start.name} takes no `{name}`, and stops with `unrecognized arguments`",
            f"did you mean `{near}`?" if near is not None else "move it behind the script, if it is one of the script",
        )
