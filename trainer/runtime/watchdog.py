"""A rank that stands still says where, and ends."""

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

from trainer.config import TrainerConfig
from trainer.runtime import flight_recorder
from trainer.runtime.distributed import World
from trainer.runtime.log import note
from trainer.runtime.roll_call import RollCall, summary

# Above 127, which the training operator's restart policy ExitCode takes for worth another try.
STATUS = 128 + signal.SIGABRT

_STDERR = 2
_ROLL_CALL_SECONDS = 5.0
# For a process whose Python is stuck, or whose disk is: it is ended from outside of Python then.
_LAST_RESORT_SECONDS = 30.0


class Watchdog:
    """Ends the process with status 134 when `alive` is not called for `hang_seconds`, or never if they are 0.

    Before the first call it may take `timeout_seconds`. All ranks of a run stand still together, since each waits for
    the others at the next boundary, and so each of them writes its stacks to stderr and to
    `dump_dir`/stacks-rank-00000.txt, and NCCL's flight record where there is one. Then they call the roll: the ranks
    that do not answer, or stand elsewhere than all others, are those to look at.

    Use it as a context on every rank.
    """

    def __init__(self, config: TrainerConfig, world: World) -> None:
        self._world = world
        self._seconds = config.hang_seconds
        self._patience = max(config.timeout_seconds, config.hang_seconds)
        self._limit = self._patience
        self._dump_dir = Path(config.dump_dir) if config.dump_dir else None
        self._step = 0
        self._alive_at = time.monotonic()
        self._stopped = threading.Event()
        self._watched = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        if self._seconds:
            self._roll_call = RollCall(self._world)
            self._alive_at = time.monotonic()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        if self._seconds:
            # A rank that ends of a hang makes the collectives of the others fail: they report and end as it does.
            self._thread.join()

    def alive(self, step: int) -> None:
        """This rank has met the others after `step`. Costs next to nothing."""
        self._step = step
        self._alive_at = time.monotonic()
        self._limit = self._seconds

    @contextmanager
    def patience(self) -> Iterator[None]:
        """The body may take `timeout_seconds`, too: a save, say, on a slow disk, which is no reason to end."""
        limit, self._limit = self._limit, self._patience
        try:
            yield
        finally:
            self._alive_at = time.monotonic()
            self._limit = limit

    def _watch(self) -> None:
        interval = min(1.0, self._seconds / 10)
        while True:
            # Re-armed each time, so that it only strikes when this thread does not get to run.
            faulthandler.dump_traceback_later(self._limit + _LAST_RESORT_SECONDS, exit=True, file=_STDERR)
            before = time.monotonic()
            if self._stopped.wait(interval):
                faulthandler.cancel_dump_traceback_later()
                return
            now = time.monotonic()
            if now - before > 2 * interval + 1:
                # Not the run stood still but this process: it was stopped, its container frozen, its machine moved.
                self._alive_at = now
            elif now - self._alive_at > self._limit:
                self._end()

    def _end(self) -> None:
        try:
            self._report()
        # A watchdog that dies of its own report would leave the run hanging.
        except Exception as error:
            note(f"{type(error).__name__}: {error}")
        finally:
            os._exit(STATUS)

    def _report(self) -> None:
        place = _place(self._watched)
        note(f"nothing happened for {self._limit:g} s after step {self._step}, at {place}; stacks of all threads:")
        faulthandler.dump_traceback(_STDERR)
        if self._dump_dir is not None:
            self._write_dumps(self._dump_dir)
        try:
            answers = self._roll_call.answer(f"step {self._step} {place}", _ROLL_CALL_SECONDS)
            if self._world.rank == min(answers):
                note(f"the run hangs: {summary(answers, self._world.size)}")
        except TimeoutError as error:
            note(f"the run hangs, and so does rank 0 or its node: {error}")

    def _write_dumps(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"stacks-rank-{self._world.rank:05}.txt").open("w") as file:
                faulthandler.dump_traceback(file)
            flight_recorder.dump(folder, self._world.rank)
        # Also RuntimeError, from a recorder that is off; the roll is worth calling all the same.
        except (OSError, RuntimeError) as error:
            note(f"cannot write to {folder}: {error}")


def _place(thread: int) -> str:
    """Where in the trainer the thread is: the innermost frame that is the trainer's own."""
    frame = innermost = sys._current_frames()[thread]
    while not frame.f_globals.get("__name__", "").startswith("trainer."):
        if frame.f_back is None:
            frame = innermost
            break
        frame = frame.f_back
    return f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"
