"""The launcher gets an option twice with different values, and the last one wins unseen.

torchrun, accelerate and deepspeed take the last value of a repeated option. mpirun exports a variable with one of the
values of its `-x NAME=value`. The setting that a reader sees first is not the one that the run has.

The rule checks the launcher's own options before the script, and mpirun's `-x`.

Remove one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import launcher_in
from trainyard.model.run import Command, Container


@rule(
    code="SC012",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.python.org/3/library/argparse: the store action keeps the last value",
        "docs.open-mpi.org v5.0 man-openmpi/man1/mpirun.1: -x",
        "github.com/coreweave/nccl-tests pull 17",
    ),
)
def launcher_option_repeated(container: Container) -> Iterator[Problem]:
    """Report options with two values."""
    for command in container.commands:
        names = [word.partition("=")[0] for word in command.words if word[:1] == "-"]
        start = launcher_in(command.words) if _is_repeated(names) else None
        if start is None:
            continue
        given = _exports(command) if start.launcher.is_mpi else _options(command, start.after)
        known: dict[str, str] = {}
        for name, value, at in given:
            before = known.setdefault(name, value)
            if before != value and "$" not in before + value:
                yield Problem(at, f"{start.launcher.name} gets {name} twice: `{before}` and `{value}`", "remove one")
            known[name] = value


def _is_repeated(names: list[str]) -> bool:
    """True if an option may be there twice; with dashes in one place and underscores in another, it is the same."""
    return len({name.replace("_", "-") for name in names}) < len(names)


def _exports(command: Command) -> Iterator[tuple[str, str, Place]]:
    for number, (word, after) in enumerate(pairwise(command.words)):
        name, equals, value = after.partition("=")
        if word == "-x" and equals:
            yield name, value, command.word_at[number + 1]


def _options(command: Command, start: int) -> Iterator[tuple[str, str, Place]]:
    """Yields the options before the script; those of a module or of another program are not told apart."""
    words = command.words
    end = next((n for n, word in enumerate(words) if n >= start and (word.endswith(".py") or word == "-m")), start)
    for number in range(start, end):
        name, equals, value = words[number].partition("=")
        if not name.startswith("--"):
            continue
        after = words[number + 1] if number + 1 < end else "-"
        if equals or not after.startswith("-"):
            yield name.replace("_", "-"), value if equals else after, command.word_at[number]
