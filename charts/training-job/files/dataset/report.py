"""What the program says: lines with a common beginning, progress at intervals, and errors that a user can act on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_LONGEST_PAUSE = 60.0


class FetchError(Exception):
    """The data cannot be brought. The message says what is wrong and what to do; it is printed without a traceback."""


class TemporaryError(Exception):
    """Something that may pass: the same step is tried again before it becomes a `FetchError`."""


def say(text: str) -> None:
    """Print a line at once: nobody reads a buffer of a pod that was killed."""
    print(f"dataset: {text}", flush=True)


def readable(count: float) -> str:
    """A number of bytes as people write it: `1.5 GiB`."""
    if count < 1024:
        return f"{count:.0f} B"
    units = iter(("KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    count /= 1024
    while count >= 1024 and unit != "TiB":
        unit = next(units)
        count /= 1024
    return f"{count:.1f} {unit}"


def persist(what: str, step: Callable[[], Result], reached: Callable[[], int] = lambda: 0, attempts: int = 6) -> Result:
    """Repeat a step that fails temporarily, with pauses that grow; attempts count from where it last came further."""
    failures = 0
    while True:
        before = reached()
        try:
            return step()
        except TemporaryError as error:
            failures = 1 if reached() > before else failures + 1
            if failures == attempts:
                raise FetchError(f"{what}: {error}, {attempts} times in a row") from error
            pause = min(2.0**failures, _LONGEST_PAUSE)
            say(f"{what}: {error}; tries again in {pause:.0f} s")
        time.sleep(pause)


class Progress:
    """Counts bytes and files of a step and says so every `interval` seconds; a total of 0 is one that is unknown."""

    def __init__(self, verb: str, interval: float, files: int = 0, size: int = 0) -> None:
        self.verb, self.interval = verb, interval
        self.total_files, self.total_size = files, size
        self.files = self.size = 0
        self._began = self._said = time.monotonic()

    def add(self, size: int = 0, files: int = 0) -> None:
        """Count what has been done, and say so when it is time."""
        self.size += size
        self.files += files
        now = time.monotonic()
        if now - self._said >= self.interval:
            self._said = now
            say(self.line())

    def line(self) -> str:
        """How far the step is."""
        size = readable(self.size)
        if self.total_size:
            size += f" of {readable(self.total_size)} ({100 * self.size // self.total_size} %)"
        files = f"{self.files} of {self.total_files} files" if self.total_files else f"{self.files} files"
        seconds = max(time.monotonic() - self._began, 0.001)
        return f"{self.verb} {size}, {files}, {readable(self.size / seconds)}/s"
