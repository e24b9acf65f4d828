"""The words of a launcher's command: its own options, and the program that it starts."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.document.document import Place
from trainyard.facts.programs.launchers import SRUN, Launcher, launcher_in
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container
from trainyard.startup import NamedTuple


class Start(NamedTuple):
    """A start of a launcher. `options` are its own words that begin with a dash, with their indexes.

    `program` is the index of the program that it starts, None if an option before it is not known.
    """

    command: Command
    launcher: Launcher
    options: tuple[tuple[str, int], ...]
    program: int | None

    def place(self, index: int) -> Place:
        """Returns the place of a word."""
        return self.command.word_at[index]

    @property
    def name(self) -> str:
        """The program that the user knows as the launcher; srun only starts it."""
        return self.launcher.name if self.command.program == SRUN else self.command.program

    def has(self, *names: str) -> bool:
        """True if one of these is among the launcher's own options."""
        return any(_plain(word) in names for word, _ in self.options)


def starts(container: Container) -> Sequence[Start]:
    """Returns the starts of launchers whose options are known."""
    return _starts.of(container.commands)


def _find_starts(commands: tuple[Command, ...]) -> list[Start]:
    return [start for command in commands if (start := _start(command)) is not None]


# Several rules ask for each container.
_starts = LastIndex(_find_starts)


def _start(command: Command) -> Start | None:
    found, begin = launcher_in(command.words), 0
    if found is not None and found.launcher.name == SRUN:
        # srun starts another launcher on each node.
        begin = found.after
        found = launcher_in(command.words[begin:])
    if found is None or not found.launcher.valued:
        return None
    # `python train.py -m torch...` starts no launcher.
    if any(_is_script(word) for word in command.words[begin : begin + min(2, found.after)]):
        return None
    return _read(command, found.launcher, begin + found.after)


def is_option(word: str, launcher: Launcher) -> bool:
    """True if a launcher takes an option: argparse also takes the beginning of a long one, and `-r3`."""
    name = _plain(word)
    known = (*launcher.valued, *launcher.flags)
    if name.startswith("--"):
        return any(one.startswith(name) for one in known)
    return name[:2] in known


def _read(command: Command, launcher: Launcher, index: int) -> Start:
    options: list[tuple[str, int]] = []
    words = command.words
    while index < len(words) and words[index].startswith("-"):
        word = words[index]
        options.append((word, index))
        if not is_option(word, launcher):
            return Start(command, launcher, tuple(options), None)
        index += 2 if _takes_next(word, launcher) else 1
    return Start(command, launcher, tuple(options), index if index < len(words) else None)


def _takes_next(word: str, launcher: Launcher) -> bool:
    name = _plain(word)
    if "=" in word or name in launcher.flags:
        return False
    if name.startswith("--"):
        return any(one.startswith(name) for one in launcher.valued)
    return name in launcher.valued


def _is_script(word: str) -> bool:
    return word.endswith(".py")


def _plain(word: str) -> str:
    return word.partition("=")[0].replace("_", "-")
