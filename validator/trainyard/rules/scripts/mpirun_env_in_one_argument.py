"""mpirun gets `-x NAME=VALUE` as one argument, or quotes as part of it, and the processes miss the variable.

Each item of `command` and `args` is one argument; no shell splits it. The item `-x NCCL_DEBUG=INFO` is one word with a
space in it, which is no option of mpirun: Open MPI stops with "An unrecognized option was included". Quotes inside an
item, as in `'"NCCL_DEBUG=INFO"'`, become part of the variable's name or value.

In a shell script the same happens when option and value stand together in quotes.

Write the option and its value as two items, without inner quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.model import Command
from validator.rule import Problem, rule

PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
JOINED = re.compile(r"-x\s+([A-Za-z_]\w*(?:=.*)?)\Z", re.DOTALL)
QUOTED = re.compile(r"""(["'])[A-Za-z_]\w*=.*\1\Z|[A-Za-z_]\w*=(["']).*\2\Z""", re.DOTALL)


@rule(
    code="SC003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Open MPI 5.0.11 mpirun, run with each: an option with a space is unrecognized, quotes go into the environment",
        "Kubernetes documentation, Define a Command and Arguments for a Container: each item is one argument",
    ),
)
def mpirun_env_in_one_argument(command: Command) -> Iterator[Problem]:
    """`-x` and its value in one word, or a value with quotes of its own."""
    if command.program not in PROGRAMS:
        return
    for index, (word, at) in enumerate(zip(command.words, command.word_at, strict=True)):
        joined = JOINED.match(word)
        if joined is not None:
            message = f"`{word}` reaches {command.program} as one argument, which is no option of it"
            yield Problem(at, message, f"write `-x` and `{joined[1]}` as two items")
        elif index and command.words[index - 1] == "-x" and QUOTED.match(word):
            message = f"the quotes in {word} become part of the variable's name or value"
            yield Problem(at, message, "write the item without inner quotes")
