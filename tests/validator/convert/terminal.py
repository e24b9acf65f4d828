"""A pseudo-terminal on which a command runs: what it asks, and what a person types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from types import TracebackType
from typing import Self

INTERRUPT, END = "\x03", "\x04"
_SECONDS = 60
_PATIENCE = 5


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # A shell starts programs in the background with interrupts ignored, and a test run with them.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """Runs `trainyard` with a terminal of its own, so that Ctrl-C reaches it as a signal."""

    def __init__(self, *words: str) -> None:
        self._above, below = pty.openpty()
        self._seen = 0
        self.shown = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "trainyard", *words],
            stdin=below,
            stdout=below,
            stderr=below,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(below)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._above)

    def expect(self, text: str) -> None:
        """Wait until the command has shown a text after those that were waited for."""
        end = time.monotonic() + _SECONDS
        while text not in self.shown[self._seen :]:
            assert self._read(end), f"{text!r} does not come:\n{self.shown}"
        self._seen = self.shown.index(text, self._seen) + len(text)

    def type(self, text: str) -> None:
        """Type a text, with Enter if it is no control character."""
        os.write(self._above, (text if text in (INTERRUPT, END) else f"{text}\n").encode())

    def press(self, key: str, text: str) -> None:
        """Type a control character until the command shows a text, as a person does.

        Python loses an interrupt that comes between its last look at signals and its wait for input.
        """
        for _ in range(_SECONDS // _PATIENCE):
            self.type(key)
            end = time.monotonic() + _PATIENCE
            while text not in self.shown[self._seen :] and self._read(end):
                pass
            if text in self.shown[self._seen :]:
                break
        self.expect(text)

    def answer(self, question: str, text: str) -> None:
        """Wait for a question, then type the answer."""
        self.expect(question)
        self.type(text)

    def end(self) -> int:
        """Read the rest, and return the exit code."""
        end = time.monotonic() + _SECONDS
        while self._read(end):
            pass
        return self._process.wait(timeout=_SECONDS)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._above], [], [], max(end - time.monotonic(), 0))
        try:
            part = os.read(self._above, 4096) if ready else b""
        except OSError:
            # The last process of the terminal has ended.
            return False
        self.shown += part.decode()
        return bool(part)
