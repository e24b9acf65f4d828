"""Output of the program: log lines with a common prefix, progress at intervals, and errors that a user can act on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_LONGEST_PAUSE = 60.0


class FetchError(Exception):
    """The data cannot be fetched. The message names the cause and the next step; it is printed without a traceback."""


class TemporaryError(Exception):
    """A transient failure: the step is retried before the failure becomes a `FetchError`."""


def say(text: str) -> None:
    """Print a line without buffering, because the buffer of a killed pod is lost."""
    print(f"dataset: {text}", flush=True)


def readable(count: float) -> str:
    """Returns a number of bytes in a readable unit: `1.5 GiB`."""
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
    """Retry a step that fails temporarily, with growing pauses. Progress of the step resets the number of attempts."""
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
            say(f"{what}: {error}; retrying in {pause:.0f} s")
        time.sleep(pause)


class Progress:
    """Counts bytes and files of a step and logs them every `interval` seconds. A total of 0 means unknown."""

    def __init__(self, verb: str, interval: float, files: int = 0, size: int = 0) -> None:
        self.verb, self.interval = verb, interval
        self.total_files, self.total_size = files, size
        self.files = self.size = 0
        self._began = self._said = time.monotonic()

    def add(self, size: int = 0, files: int = 0) -> None:
        """Count finished bytes and files, and log them if the interval is over."""
        self.size += size
        self.files += files
        now = time.monotonic()
        if now - self._said >= self.interval:
            self._said = now
            say(self.line())

    def line(self) -> str:
        """Returns the progress of the step as text."""
        size = readable(self.size)
        if self.total_size:
            size += f" of {readable(self.total_size)} ({100 * self.size // self.total_size} %)"
        files = f"{self.files} of {self.total_files} files" if self.total_files else f"{self.files} files"
        seconds = max(time.monotonic() - self._began, 0.001)
        return f"{self.verb} {size}, {files}, {readable(self.size / seconds)}/s"
