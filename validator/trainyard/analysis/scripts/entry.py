"""The script that a container starts with, and what its exit code depends on."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.analysis.launchers.training_commands import training_indexes
from trainyard.document.document import Place
from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.loaders.manifests import shell
from trainyard.model.run import Container, Script
from trainyard.startup import NamedTuple, pattern

if TYPE_CHECKING:
    from trainyard.analysis.scripts.state import Launch, State

# A Python program whose output `tee` copies.
TEE = pattern(r"\bpython[\d.]*\s(?:[^\n|;&\\]|\\\n|\\.|2>&1)*\|&?\s*tee\b")


class Entry(NamedTuple):
    """A script, its shell and options, the scripts that it may start, and programs that count as launchers."""

    text: str
    at: Place
    program: str
    options: tuple[str, ...]
    files: tuple[tuple[str, str, Place], ...]
    trains: frozenset[tuple[str, ...]]

    def ends(self, options: Sequence[str] = ()) -> list[State]:
        """Returns the ends of the script after a launcher has failed, with more options of every shell."""
        return _ends(self, tuple(options))

    def kept(self, options: Sequence[str]) -> frozenset[Launch]:
        """Returns the launchers after whose failure the script surely fails, with these options."""
        # The advice may change the shell too.
        entry = self._replace(program="bash") if "pipefail" in options else self
        ends = entry.ends(options)
        launches = {launch for end in ends for launch in end.launches}
        return frozenset(one for one in launches if all(end.status != 0 for end in ends if one in end.launches))


@functools.lru_cache(maxsize=64)
def _ends(entry: Entry, options: tuple[str, ...]) -> list[State]:
    """Cached: the pods of a run start the same script."""
    from trainyard.analysis.scripts.exit_codes import ends_of

    files = {path: (text, at) for path, text, at in entry.files}
    return ends_of(entry.text, entry.at, entry.program, entry.options, files, entry.trains, options)


def entry_of(container: Container) -> Entry | None:
    """Returns the script of a container; None if it starts no launcher, or one as its last command."""
    first, argv = container.scripts[0], (*container.command, *container.args)
    trains = _trains(container)
    if not trains and not any(name in script.text for script in container.scripts for name in BY_NAME):
        return None
    if len(container.scripts) == 1 and _is_last(first.text):
        return None
    told = _shell(argv, first)
    if told is None:
        return None
    name, options = told
    files = tuple((script.path, script.text, script.at) for script in container.scripts if script.path)
    return Entry(first.text, first.at, name, options, files, trains)


def _trains(container: Container) -> frozenset[tuple[str, ...]]:
    """Returns the Python program that counts as the training, if there is no launcher."""
    commands = [command.words for command in container.commands]
    is_counted = container.gpus or any(TEE.search(script.text) for script in container.scripts)
    if not is_counted or any(launcher_in(words) for words in commands):
        return frozenset()
    return frozenset(commands[index] for index in training_indexes(commands))


def _is_last(text: str) -> bool:
    """True if the last command is a plain start of a launcher: its exit code is that of the script."""
    last = shell.statements(text)[-1:]
    words = tuple(word.text for word in last[0].words) if last else ()
    plain = bool(words) and last[0].end in ("", "\n", ";") and "!" not in words and "trap" not in text
    return plain and launcher_in(words) is not None


def _shell(argv: Sequence[str], script: Script) -> tuple[str, tuple[str, ...]] | None:
    """Returns the shell that runs a container's script, and its options."""
    name = argv[0].rsplit("/", 1)[-1] if argv else ""
    if name in shell.SHELLS:
        options = list[str]()
        for word in argv[1:]:
            if not word.startswith(("-", "+")) and not (options and options[-1].endswith("o")):
                return (name, tuple(options)) if not script.path or word == script.path else None
            if word.startswith("--"):
                continue
            letters = word.replace("c", "").replace("l", "").replace("i", "") if word[0] in "-+" else word
            options += [letters] if letters not in ("-", "+") else []
        return None
    if script.path and argv and argv[0] == script.path:
        from trainyard.analysis.scripts.texts import shebang

        found, words = shebang(script.text)
        return (found, tuple(map(str, words))) if found else None
    return None
