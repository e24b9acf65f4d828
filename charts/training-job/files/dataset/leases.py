"""Leader election for the fetch: one pod of all that mount the volume holds the lease, until it finishes or dies.

A lease is a numbered folder below `work`. A pod acquires it by renaming its own folder, which already contains its
name, to the next number. On every file system, including NFS, this succeeds for one pod only. Kernel locks are not
used, because on NFS they may be local to a node, or missing.

The holder writes a heartbeat to the file `beat` in its folder every few seconds. Waiting pods observe the change with
their own clocks, which may differ from the holder's. A holder without heartbeat loses the lease to the pod that takes
the next number. That pod continues with the staged data: it moves the folder `staged` into its own. A holder that was
only suspended no longer finds its files, and ends.
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
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Callable

from report import say


@dataclass(frozen=True)
class Timing:
    """Seconds between heartbeats, without a heartbeat until a lease is lost, and between lines of progress."""

    beat: float = 5.0
    patience: float = 60.0
    report: float = 15.0


@dataclass(frozen=True)
class Beat:
    """A heartbeat. `token` identifies the process, `pod` outlives it; `over` means that the lease was released."""

    token: str
    pod: str
    name: str
    count: int = 0
    status: str = "starting"
    over: bool = False


class Lease:
    """The right to change `staged` inside a `with` block. An error in the block releases it."""

    def __init__(self, folder: Path, beat: Beat, seconds: float) -> None:
        self.folder, self.staged = folder, folder / "staged"
        self.status: Callable[[], str] = lambda: beat.status
        self._beat, self._seconds = beat, seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show_life, daemon=True)

    def __enter__(self) -> Lease:
        """Start the heartbeat, and take over the staged data of earlier holders."""
        self._thread.start()
        for number in sorted(_numbers(self.folder.parent), reverse=True):
            staged = self.folder.parent / str(number) / "staged"
            if staged != self.staged and staged.exists():
                staged.rename(self.staged)
                say("continuing with the data of an earlier attempt")
                break
        self.staged.mkdir(exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete the staging folder after a success; otherwise keep staged data for the next holder."""
        self._ended.set()
        self._thread.join()
        if error is None:
            shutil.rmtree(self.folder.parent, ignore_errors=True)
        elif not self._is_lost():
            # On a full volume this fails; the others then wait until the heartbeat times out.
            with contextlib.suppress(OSError):
                _write(self.folder, replace(self._beat, over=True))

    def _show_life(self) -> None:
        while not self._ended.wait(self._seconds):
            # A volume that fails for a moment, as while its file server restarts, must not end the heartbeat.
            with _reported():
                self._beat_once()

    def _beat_once(self) -> None:
        if self._is_lost():
            print("error: another pod has taken over, because the heartbeat of this pod stopped", file=sys.stderr)
            # The main thread may be in any operation, and must not write another byte.
            os._exit(1)
        self._beat = replace(self._beat, count=self._beat.count + 1, status=self.status())
        _write(self.folder, self._beat)

    def _is_lost(self) -> bool:
        found = _read(self.folder)
        is_mine = found is None or found.token == self._beat.token
        return (
            not self.folder.exists()
            or not is_mine
            or max(_numbers(self.folder.parent), default=0) > int(self.folder.name)
        )


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        say(f"cannot write the heartbeat to the volume: {error.strerror}")


def acquire(work: Path, pod: str, name: str, is_done: Callable[[], bool], timing: Timing) -> Lease | None:
    """Returns the lease once no live pod holds it, or None as soon as `is_done`."""
    mine = Beat(uuid.uuid4().hex, pod, name)
    seen: tuple[int, Beat | None] | None = None
    seen_at = said_at = float("-inf")
    while not is_done():
        number = max(_numbers(work), default=0)
        beat = _read(work / str(number)) if number else None
        # A restarted container of the same pod need not wait: the previous container has ended.
        if number and not (beat and (beat.over or beat.pod == pod)):
            now = time.monotonic()
            if (number, beat) != seen:
                seen, seen_at = (number, beat), now
            if now - seen_at < timing.patience:
                if now - said_at >= timing.report:
                    said_at = now
                    say(f"waiting for {beat.name if beat else 'another pod'}: {beat.status if beat else 'starting'}")
                time.sleep(timing.beat / 2)
                continue
            say(f"taking over: no heartbeat of {beat.name if beat else 'another pod'} for {timing.patience:g} s")
        if _claim(work, number + 1, mine):
            return Lease(work / str(number + 1), mine, timing.beat)
    return None


def _claim(work: Path, number: int, beat: Beat) -> bool:
    """Try to take a number."""
    folder = work / str(number)
    # Beside `work`: a change of that folder makes an NFS client drop its cached entries, so that the next check of
    # the published data is fresh.
    prepared = work.with_name(f"{work.name}.{beat.token}")
    work.mkdir(exist_ok=True)
    prepared.mkdir()
    try:
        _write(prepared, beat)
        prepared.rename(folder)
    except OSError as error:
        # The rename fails if the number is taken, or if its holder has just finished and removed `work`.
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT) and not folder.exists():
            raise
        # A rename whose reply was lost also looks like a failure.
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
    """Returns the last heartbeat, or None if it cannot be read, as briefly on NFS while it is replaced."""
    try:
        return Beat(**json.loads((folder / "beat").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write(folder: Path, beat: Beat) -> None:
    fresh = folder / f"beat.{beat.token}"
    fresh.write_text(json.dumps(asdict(beat)), encoding="utf-8")
    fresh.replace(folder / "beat")
