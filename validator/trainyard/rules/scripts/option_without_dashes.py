"""An option of a launcher lacks its dashes, so the launcher takes it for the program, and starts a file of that name.

`torchrun nproc-per-node=8 train.py` runs `python nproc-per-node=8`: "can't open file". `horovodrun -np 2 min-np 1`
starts the command `min-np`. The options that follow reach this program, and the launcher never sees them.

The rule knows the names of options with a hyphen, and all names before an equal sign. It leaves out programs behind
`-m` and `--no-python`.

Write the two dashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import HOROVOD, HOROVOD_OPTIONS
from trainyard.model.run import Command, Container
from trainyard.startup import pattern

_PROGRAM = pattern(r"(?:.*/)?(?:python[\d.]*|bash|sh)|.+\.(?:py|sh)")


@rule(
    code="SC035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: training_script is the first word that is no option",
        "horovod/horovod v0.28.1 runner/launch.py: command takes the rest of the words",
        "github.com/kubeflow/mpi-operator pull 338",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate", HOROVOD),
)
def option_without_dashes(container: Container) -> Iterator[Problem]:
    """Report names of options in place of a program."""
    for start in starts(container):
        if start.program is None or start.has("-m", "--module", "--no-python"):
            continue
        known = {one[2:] for one in (*start.launcher.valued, *start.launcher.flags) if one.startswith("--")}
        yield from _of_word(start.command, start.program, known, start.launcher.name)
    for command in container.commands:
        if command.program == HOROVOD:
            for index, word in enumerate(command.words[1:], 1):
                if _PROGRAM.fullmatch(word):
                    break
                yield from _of_word(command, index, HOROVOD_OPTIONS, HOROVOD)


def _of_word(command: Command, index: int, known: set[str] | frozenset[str], launcher: str) -> Iterator[Problem]:
    word = command.words[index]
    name, equals, _ = word.partition("=")
    plain = name.replace("_", "-")
    if plain in known and (equals or "-" in plain):
        yield Problem(
            command.word_at[index],
            f"`{word}` lacks its dashes: {launcher} reads it as a word of the program to start",
            f"write `--{word}`",
        )
