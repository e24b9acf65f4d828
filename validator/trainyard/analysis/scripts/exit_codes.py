"""The exit code of a script whose launcher fails: the launcher's, 0, or unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from trainyard.analysis.scripts.commands import Commands, refuse_dialect
from trainyard.analysis.scripts.interpreter import Interpreter
from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.shell_options import with_options
from trainyard.analysis.scripts.state import File, Launch, State
from trainyard.document.document import Place

Answer = Literal["failure", "masked", "unknown"]


def ends_of(
    text: str,
    at: Place,
    shell: str = "bash",
    options: Sequence[str] = (),
    files: Mapping[str, tuple[str, Place]] | None = None,
    trains: frozenset[tuple[str, ...]] = frozenset(),
    added: tuple[str, ...] = (),
) -> list[State]:
    """Returns the ends of a script after which a launcher has failed; none if they are not known.

    `files` are the scripts that this one may start, by path. `trains` are commands that count as launchers. `added` are
    options of this shell and of those that it starts.
    """
    known = {path: File(*file) for path, file in (files or {}).items()}
    try:
        refuse_dialect(shell, text)
        state, _ = with_options((*options, *added), State(at=at, files=known, is_bash=shell == "bash", options=added))
        ends = Interpreter(Commands(trains)).script(text, state)
    except (UnsupportedError, RecursionError):
        return []
    return [end for end in ends if end.launches]


def answer(ends: Sequence[State]) -> Answer:
    """Returns what is certain about the exit code of a script with these ends."""
    masked = {end.status == 0 for end in ends}
    return "unknown" if len(masked) != 1 else "masked" if masked.pop() else "failure"


def masked_launches(ends: Sequence[State]) -> list[Launch]:
    """Returns the launchers after whose failure the script always exits with 0."""
    launches = dict.fromkeys(launch for end in ends for launch in end.launches)
    return [one for one in launches if all(end.status == 0 for end in ends if one in end.launches)]
