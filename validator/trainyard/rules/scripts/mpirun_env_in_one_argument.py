"""mpirun gets `-x NAME=VALUE` as one argument, or with literal quotes, so the variable is not set.

Each item of `command` and `args` is one argument; no shell splits it. The item `-x NCCL_DEBUG=INFO` is one word with a
space in it, which is not an option of mpirun: Open MPI stops with "An unrecognized option was included". Quotes inside
an item, as in `'"NCCL_DEBUG=INFO"'`, become part of the variable's name or value.

The same happens in a shell script if the option and its value are quoted together.

Write the option and its value as two items, without inner quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command
from trainyard.startup import pattern

JOINED = pattern(r"-x\s+([A-Za-z_]\w*(?:=.*)?)\Z", re.DOTALL)
QUOTED = pattern(r"""(["'])[A-Za-z_]\w*=.*\1\Z|[A-Za-z_]\w*=(["']).*\2\Z""", re.DOTALL)


@rule(
    code="SC003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Open MPI 5.0.11 mpirun, run with each: an option with a space is unrecognized, quotes go into the environment",
        "Kubernetes documentation, Define a Command and Arguments for a Container: each item is one argument",
    ),
    needs=MPI_LAUNCHERS,
)
def mpirun_env_in_one_argument(command: Command) -> Iterator[Problem]:
    """`-x` and its value in one argument, or a value with literal quotes."""
    if command.program not in MPI_LAUNCHERS:
        return
    for index, (word, at) in enumerate(zip(command.words, command.word_at, strict=True)):
        joined = JOINED.match(word)
        if joined is not None:
            message = f"{command.program} gets `{word}` as one argument and does not recognize it"
            yield Problem(at, message, f"write `-x` and `{joined[1]}` as two items")
        elif index and command.words[index - 1] == "-x" and QUOTED.match(word):
            message = f"the quotes in {word} become part of the variable's name or value"
            yield Problem(at, message, "write the item without inner quotes")
