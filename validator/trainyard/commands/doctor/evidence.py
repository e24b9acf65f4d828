"""Lines that show a cause, kept in bounded memory: the first line of each rank or pod, and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trainyard.commands.doctor import origins
from trainyard.commands.doctor.cause import Cause, Level
from trainyard.commands.doctor.progress import Progress

# A run has fewer ranks; logs with more names of pods than this are counted on, without their names.
_MOST_ORIGINS = 16384


class Line(NamedTuple):
    """A line of a log that shows a cause; the frame is the file and line of the program that raised it."""

    file: str
    number: int
    text: str
    origin: str | None
    time: float | None
    order: int
    pod: str | None = None
    frame: str = ""


class Evidence:
    """The lines that show one cause."""

    def __init__(self, cause: Cause) -> None:
        self.cause = cause
        self.count = 0
        self.by_origin: dict[str | None, Line] = {}
        self._last: dict[str | None, Line] = {}
        # Origins that went on after the last of their lines.
        self._went_on: set[str | None] = set()
        # Ages of the events that ended the trouble: kubectl sorts events of a namespace in no order.
        self._over: dict[str | None, int] = {}

    def add(self, line: Line) -> None:
        """Adds a line, unless its trouble was over later."""
        age = origins.age(line.text)
        if age is not None and age >= self._over.get(line.origin, age + 1):
            return
        self.count += 1
        if len(self.by_origin) < _MOST_ORIGINS:
            self.by_origin.setdefault(line.origin, line)
            self._last[line.origin] = line
            self._went_on.discard(line.origin)

    def end_log(self, file: str, progress: Progress) -> None:
        """Marks the lines of a log that the run went on after. At its end, processes lose each other without harm."""
        at_the_end = self.cause.level is Level.CONSEQUENCE
        for origin, last in self._last.items():
            if last.file != file:
                continue
            if progress.follows(last.number, origin) or (at_the_end and progress.was_over(last.number)):
                self._went_on.add(origin)

    @property
    def went_on(self) -> bool:
        """Returns true if every rank and pod went on after it."""
        return bool(self.by_origin) and self._went_on >= self.by_origin.keys()

    def resolve(self, origin: str | None, text: str) -> None:
        """Removes the lines of a rank or pod: its trouble is over."""
        age, line = origins.age(text), self.by_origin.get(origin)
        if age is not None:
            self._over[origin] = min(age, self._over.get(origin, age))
            before = origins.age(line.text) if line is not None else None
            if before is not None and before < age:
                return
        if self.by_origin.pop(origin, None) is not None and not self.by_origin:
            self.count = 0

    def rename(self, name: Callable[[str], str | None]) -> None:
        """Gives the lines of the kernel the rank of their GPU or process, if it is known."""
        renamed: dict[str | None, Line] = {}
        for line in self.lines:
            origin = name(line.text) or line.origin
            renamed.setdefault(origin, line._replace(origin=origin))
        self.by_origin = renamed

    @property
    def lines(self) -> list[Line]:
        """Returns the first line of each rank or pod, in the order of the logs."""
        return sorted(self.by_origin.values(), key=lambda line: line.order)

    @property
    def origins(self) -> list[str]:
        """Returns the ranks and pods."""
        return [line.origin for line in self.lines if line.origin is not None]
