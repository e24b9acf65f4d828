"""The known state of a shell at one point of a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from trainyard.analysis.scripts.syntax import Command
from trainyard.document.document import Place


class Failure:
    """The exit code of the launcher: not 0, and otherwise unknown."""

    def __repr__(self) -> str:
        return "FAILURE"


FAILURE: Final = Failure()
# A text, the launcher's exit code, a background job (a tuple of its number), or None if it is not known.
Value = str | Failure | tuple[int] | None
Status = int | Failure


# The exit code of a background job that does not end.
NEVER = -1


class Launch(NamedTuple):
    """A launcher that ran and failed: the program, its place, and true if a script that the first one starts ran it."""

    program: str
    at: Place
    is_inner: bool


class File(NamedTuple):
    """A script that the files show: its text, and the place of its first line."""

    text: str
    at: Place


class State(NamedTuple):
    """A shell between two commands.

    `launches` are the launchers that have failed so far. `flow` is empty, or the reason why the commands that follow
    are not executed: "exit", "return", "break" or "continue", the last two for `loops` loops. `jobs` are the exit codes
    of background jobs. `may_return` is true in a function and in a sourced file. `options` are given to every shell
    that the script starts. The mappings are replaced, never changed.
    """

    at: Place
    status: Status = 0
    launches: tuple[Launch, ...] = ()
    flow: str = ""
    loops: int = 0
    errexit: bool = False
    pipefail: bool = False
    errtrace: bool = False
    statuses: tuple[Status, ...] = ()
    jobs: tuple[Status, ...] = ()
    on_exit: str = ""
    on_error: str = ""
    depth: int = 0
    may_return: bool = False
    is_bash: bool = True
    is_inner: bool = False
    options: tuple[str, ...] = ()
    arguments: tuple[Value, ...] | None = None
    variables: Mapping[str, Value] = {}
    functions: Mapping[str, Command] = {}
    files: Mapping[str, File] = {}

    @property
    def key(self) -> Any:
        """Equal for states from which a script goes on alike."""
        return (*self[:17], tuple(sorted(self.variables.items(), key=str)), len(self.functions), len(self.files))

    def line(self, number: int) -> Place:
        """Returns the place of a line of the running text, counted from 0."""
        return self.at._replace(line=max(self.at.line, 1) + number)

    def ends(self, status: Status) -> State:
        """Returns the state after a simple command."""
        return self._replace(status=status, statuses=(status,))

    def set(self, name: str, value: Value) -> State:
        """Returns the state with a variable."""
        return self._replace(variables={**self.variables, name: value})

    def hide(self, name: str) -> State:
        """Returns the state after `local`: `shown` restores the variable."""
        hidden = f"{self.depth} {name}"
        return self if hidden in self.variables else self.set(hidden, self.variables.get(name))

    def shown(self) -> State:
        """Returns the state at the end of a function, without its local variables."""
        prefix = f"{self.depth} "
        known = {name: value for name, value in self.variables.items() if not name.startswith(prefix)}
        hidden = {name[len(prefix) :]: value for name, value in self.variables.items() if name.startswith(prefix)}
        return self._replace(variables={**known, **hidden}) if hidden else self

    def inner(self, at: Place | None = None) -> State:
        """Returns the state at the start of a subshell, or of another script in the place `at`."""
        return self._replace(on_exit="", on_error=self.on_error if self.errtrace else "", jobs=(), at=at or self.at)

    def after(self, inner: State) -> State:
        """Returns the state after a subshell with this end."""
        return self._replace(status=inner.status, launches=inner.launches, files=inner.files)


def either(state: State, result: bool | None) -> list[State]:
    """Returns the states after a command with this result, both if it is not known."""
    if result is None:
        return [state.ends(0), state.ends(1)]
    return [state.ends(0 if result else 1)]
