"""The launcher stands behind the script, or a host file in place of it, so no ranks start.

`python train.py -m torch.distributed.launch ...` starts `train.py` in one process: the script gets `-m` and the rest as
its own arguments, and stops with "unrecognized arguments". In `deepspeed /job/hostfile main.py`, the launcher takes the
host file for the script, and Python stops with a syntax error.

Write `python -m torch.distributed.run ... train.py`, or `torchrun ... train.py`. Pass a host file with `--hostfile`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.model.run import Command, Container


@rule(
    code="SC016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.python.org/3/using/cmdline.html: arguments behind the script are those of the script",
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: parse_args, user_script",
        "github.com/rosinality/ocr-pytorch issue 1, github.com/deepspeedai/DeepSpeedExamples issue 575",
    ),
    needs=("torch.distributed", "accelerate.commands", "host"),
)
def launcher_after_script(container: Container) -> Iterator[Problem]:
    """Report launchers that the script gets as arguments, and host files in place of the script."""
    for command in container.commands:
        index = _behind(command)
        if index is not None:
            script, name = command.words[1], command.words[index]
            yield Problem(
                command.word_at[index],
                f"`-m {name}` stands behind `{script}`, which gets it as an argument: no ranks start",
                f"write `{command.words[0]} -m {name} ... {script}`",
            )
    for start in starts(container):
        words, at = start.command.words, start.program
        if at is None or at + 1 >= len(words) or start.has("-m", "--module", "--no-python", "--hostfile", "-H"):
            continue
        if "host" in words[at].rpartition("/")[2].lower() and "." not in words[at] and words[at + 1].endswith(".py"):
            yield Problem(
                start.place(at),
                f"{start.name} takes `{words[at]}` for the script, and `{words[at + 1]}` for its argument",
                f"write `--hostfile={words[at]}`",
            )


def _behind(command: Command) -> int | None:
    """Returns the index of the module of a launcher among the arguments of a script."""
    words = command.words
    if len(words) < 4 or not command.program.startswith("python") or not words[1].endswith(".py"):
        return None
    found = (
        index
        for index in range(3, len(words))
        if words[index - 1] == "-m" and "." in words[index] and words[index] in BY_NAME
    )
    return next(found, None)
