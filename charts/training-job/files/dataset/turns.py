"""Whose turn it is to fetch: one pod of all that see the volume, until it has finished or has died.

A turn is a numbered folder below `work`. A pod takes one by renaming a folder of its own, with its name already in it,
to the next number: on every file system, NFS among them, that succeeds for one pod only. Locks of the kernel are not
used: on NFS they may be local to a node, or missing.

The owner changes the file `beat` in its folder every few seconds. Waiting pods judge by the change and by their own
clocks, which need not agree with the owner's. An owner without a sign of life loses its turn to the pod that takes the
next number, which goes on with what was staged: it moves the folder `staged` into its own. An owner that was not dead
but asleep finds nothing under its paths any more, and ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
import threading
import time
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Callable

from report import say


@dataclass(frozen=True)
class Timing:
    """Seconds: between two beats, without a beat until a turn is lost, and between two lines of progress."""

    beat: float = 5.0
    patience: float = 60.0
    report: float = 15.0


@dataclass(frozen=True)
class Beat:
    """A sign of life: `token` names the process, `pod` outlives it; `over` means that the turn was given back."""

    token: str
    pod: str
    name: str
    count: int = 0
    status: str = "begins"
    over: bool = False


class Turn:
    """The right to change `staged`, from `with` on until its end; it is given back when the end is an error."""

    def __init__(self, folder: Path, beat: Beat, seconds: float) -> None:
        self.folder, self.staged = folder, folder / "staged"
        self.status: Callable[[], str] = lambda: beat.status
        self._beat, self._seconds = beat, seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show_life, daemon=True)

    def __enter__(self) -> Turn:
        """Show life from now on, and take over what earlier turns have staged."""
        self._thread.start()
        for number in sorted(_numbers(self.folder.parent), reverse=True):
            staged = self.folder.parent / str(number) / "staged"
            if staged != self.staged and staged.exists():
                staged.rename(self.staged)
                say("goes on with what an earlier attempt has left")
                break
        self.staged.mkdir(exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear up after a success; otherwise leave what is staged to the next turn."""
        self._ended.set()
        self._thread.join()
        if error is None:
            shutil.rmtree(self.folder.parent, ignore_errors=True)
        elif not self._is_lost():
            # On a full volume this fails; the others then wait until their patience is over.
            with contextlib.suppress(OSError):
                _write(self.folder, replace(self._beat, over=True))

    def _show_life(self) -> None:
        while not self._ended.wait(self._seconds):
            if self._is_lost():
                print("error: another pod has taken over, because this one showed no sign of life", file=sys.stderr)
                # The main thread may be anywhere, and must not write another byte.
                os._exit(1)
            self._beat = replace(self._beat, count=self._beat.count + 1, status=self.status())
            try:
                _write(self.folder, self._beat)
            except OSError as error:
                say(f"cannot show life on the volume: {error.strerror}")

    def _is_lost(self) -> bool:
        found = _read(self.folder)
        is_mine = found is None or found.token == self._beat.token
        return (
            not self.folder.exists()
            or not is_mine
            or max(_numbers(self.folder.parent), default=0) > int(self.folder.name)
        )


def take(work: Path, pod: str, name: str, is_done: Callable[[], bool], timing: Timing) -> Turn | None:
    """A turn, once nobody alive has one; None as soon as `is_done`."""
    mine = Beat(uuid.uuid4().hex, pod, name)
    seen: tuple[int, Beat | None] | None = None
    seen_at = said_at = float("-inf")
    while not is_done():
        number = max(_numbers(work), default=0)
        beat = _read(work / str(number)) if number else None
        # A container that is started again in the same pod is alone: the one before it has ended.
        if number and not (beat and (beat.over or beat.pod == pod)):
            now = time.monotonic()
            if (number, beat) != seen:
                seen, seen_at = (number, beat), now
            if now - seen_at < timing.patience:
                if now - said_at >= timing.report:
                    said_at = now
                    say(f"waits for {beat.name if beat else 'another pod'}, which {beat.status if beat else 'begins'}")
                time.sleep(timing.beat / 2)
                continue
            say(f"takes over: {beat.name if beat else 'another pod'} showed no sign of life for {timing.patience:g} s")
        if _claim(work, number + 1, mine):
            return Turn(work / str(number + 1), mine, timing.beat)
    return None


def _claim(work: Path, number: int, beat: Beat) -> bool:
    """Try to get a turn by its number."""
    folder = work / str(number)
    # Beside `work`: an NFS client that changes a folder forgets what it believed about the entries there, and so about
    # whether the data is in place, which is asked next.
    prepared = work.with_name(f"{work.name}.{beat.token}")
    work.mkdir(exist_ok=True)
    prepared.mkdir()
    try:
        _write(prepared, beat)
        prepared.rename(folder)
    except OSError as error:
        # Refused because the number is taken, or because the pod that had it finished just now and removed `work`.
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT) and not folder.exists():
            raise
        # A rename whose reply was lost looks refused, too.
        found = _read(folder)
        return found is not None and found.token == beat.token
    finally:
        shutil.rmtree(prepared, ignore_errors=True)
    return True


def _numbers(work: Path) -> list[int]:
    try:
        return [int(path.name) for path in work.iterdir() if path.name.isdecimal()]
    except FileNotFoundError:
        return []


def _read(folder: Path) -> Beat | None:
    """The last beat; None when it cannot be read, as for a moment on NFS while it is replaced."""
    try:
        return Beat(**json.loads((folder / "beat").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write(folder: Path, beat: Beat) -> None:
    fresh = folder / f"beat.{beat.token}"
    fresh.write_text(json.dumps(asdict(beat)), encoding="utf-8")
    fresh.replace(folder / "beat")
