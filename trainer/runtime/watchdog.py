"""A watchdog that ends a hanging rank and reports where it hangs."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from . import flight_recorder
from .distributed import World
from .error_file import record_error
from .last_hang import LastHang, read_last_hang, remove_last_hang, write_last_hang
from .liveness import LivenessCheck, describe_liveness
from .log import log_rank

# Above 127: the training operator's restart policy ExitCode retries such a status.
HANG_STATUS = 128 + signal.SIGABRT

_STDERR = 2
_LIVENESS_SECONDS = 5.0
# Ends the process from outside of Python if its interpreter or its disk is stuck.
_LAST_RESORT_SECONDS = 30.0
_SLACK = 3.0
# The package has another name where it is installed.
_PACKAGE = __name__.partition(".")[0] + "."


class Watchdog:
    """Ends the process with status 134 if there is no heartbeat for `hang_seconds`; 0 disables it.

    Heartbeats are `step_done` and `alive`. Until the first step is done, each may take `timeout_seconds`. A later one
    may take three times as long as the slowest one so far, so that a run with slow steps needs no other setting. The
    first step counts until the second is done, because it may also compile and connect.

    With `state_dir`, a run that ends although all ranks respond is noted there. The next start waits twice as long for
    the same step, up to `timeout_seconds`: the step may be slow each time.

    All ranks hang together, because each waits for the others at the next step boundary. Each writes its stacks to
    stderr and to `dump_dir`/stacks-rank-00000.txt, and NCCL's flight record if there is one. Then a liveness check
    shows which ranks to look at: those that do not respond, and those whose position differs from all others.

    Use it as a context manager on every rank.
    """

    def __init__(
        self,
        world: World,
        *,
        hang_seconds: float,
        timeout_seconds: float,
        dump_dir: str,
        state_dir: Path | None = None,
    ) -> None:
        self._world = world
        self._seconds = hang_seconds
        self._timeout_seconds = timeout_seconds
        self._is_extended = False
        self._steps = 0
        self._slowest = self._slowest_in_step = 0.0
        self._dump_dir = Path(dump_dir) if dump_dir else None
        self._state_dir = state_dir
        self._last_hang: LastHang | None = None
        self._step = 0
        self._alive_at = time.monotonic()
        self._stopped = threading.Event()
        self._watched = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        if self._seconds:
            self._liveness = LivenessCheck(self._world)
            self._last_hang = read_last_hang(self._state_dir) if self._state_dir else None
            self._alive_at = time.monotonic()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        if self._seconds:
            # A hanging rank that exits makes the collectives of the others fail. They report and exit the same way.
            self._thread.join()

    def step_done(self, step: int) -> None:
        """Notes that this rank has synchronized with the others after `step`. Costs next to nothing."""
        self.alive()
        self._step = step
        self._steps += 1
        if self._last_hang and step > self._last_hang.step:
            self._forget_last_hang()
        before = self._slowest if self._steps > 2 else 0.0
        self._slowest, self._slowest_in_step = max(before, self._slowest_in_step), 0.0

    def alive(self) -> None:
        """Notes that this rank makes progress within a step, an evaluation or a resume."""
        now = time.monotonic()
        if not self._is_extended:
            self._slowest_in_step = max(self._slowest_in_step, now - self._alive_at)
        self._alive_at = now

    @contextmanager
    def extended_limit(self) -> Iterator[None]:
        """Extends the limit to `timeout_seconds`, if that is more, for each part of the body, such as a save."""
        was_extended, self._is_extended = self._is_extended, True
        try:
            yield
        finally:
            self._alive_at = time.monotonic()
            self._is_extended = was_extended

    @property
    def _limit(self) -> float:
        if self._steps == 0:
            return self._timeout_seconds
        after = max(self._seconds, _SLACK * max(self._slowest, self._slowest_in_step))
        if self._last_hang:
            after = max(after, self._longer_than(self._last_hang.seconds))
        return max(self._timeout_seconds, after) if self._is_extended else after

    def _longer_than(self, seconds: float) -> float:
        return min(2 * seconds, max(self._seconds, self._timeout_seconds))

    def _forget_last_hang(self) -> None:
        self._last_hang = None
        if self._state_dir and self._world.rank == 0:
            remove_last_hang(self._state_dir)

    def _watch(self) -> None:
        interval = min(1.0, self._seconds / 10)
        while True:
            # Re-armed in each iteration, so that it fires only if this thread does not get to run.
            faulthandler.dump_traceback_later(self._limit + _LAST_RESORT_SECONDS, exit=True, file=_STDERR)
            before = time.monotonic()
            if self._stopped.wait(interval):
                faulthandler.cancel_dump_traceback_later()
                return
            now = time.monotonic()
            if now - before > 2 * interval + 1:
                # Only this process was paused: it was stopped, its container frozen or its machine migrated.
                self._alive_at = now
            elif now - self._alive_at > self._limit:
                self._end()

    def _end(self) -> None:
        try:
            self._report()
        # An error in the report must not leave the run hanging.
        except Exception as error:
            log_rank(f"{type(error).__name__}: {error}")
        finally:
            os._exit(HANG_STATUS)

    def _report(self) -> None:
        place, limit = _place(self._watched), self._limit
        flag = "--timeout-seconds" if self._is_extended or self._steps == 0 else "--hang-seconds"
        problem = f"no progress for {limit:g} s after step {self._step}, at {place}"
        advice = f"write a larger {flag} if the run is only slow"
        record_error(f"{problem}: {advice}")
        log_rank(f"{problem}: {advice}; stacks of all threads:")
        faulthandler.dump_traceback(_STDERR)
        if self._dump_dir is not None:
            self._write_dumps(self._dump_dir)
        try:
            answers = self._liveness.collect(f"step {self._step} {place}", _LIVENESS_SECONDS)
            if self._world.rank == min(answers):
                log_rank(f"the run hangs: {describe_liveness(answers, self._world.size)}")
                if self._state_dir and self._steps and len(answers) == self._world.size:
                    self._extend_next_limit(self._state_dir, limit)
        except TimeoutError as error:
            log_rank(f"the run hangs, and so does rank 0 or its node: {error}")

    def _extend_next_limit(self, directory: Path, limit: float) -> None:
        try:
            write_last_hang(directory, LastHang(step=self._step, seconds=limit))
        except OSError as error:
            log_rank(f"cannot write to {directory}: {error}")
        else:
            log_rank(
                "all ranks respond, so the step may only be slow: "
                f"the next start waits {self._longer_than(limit):g} s for it"
            )

    def _write_dumps(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"stacks-rank-{self._world.rank:05}.txt").open("w") as file:
                faulthandler.dump_traceback(file)
            flight_recorder.dump(folder, self._world.rank)
        # RuntimeError comes from a disabled flight recorder. The liveness check is useful nevertheless.
        except (OSError, RuntimeError) as error:
            log_rank(f"cannot write to {folder}: {error}")


def _place(thread: int) -> str:
    """Returns the position of the thread: its innermost frame in the trainer's own code."""
    frame = innermost = sys._current_frames()[thread]
    while not frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        if frame.f_back is None:
            frame = innermost
            break
        frame = frame.f_back
    return f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"
