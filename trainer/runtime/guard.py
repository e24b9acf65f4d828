"""A rank that was killed starts again in its place, and the others with it, without torchrun.

torchrun answers the end of a process with new ones everywhere, which meet anew and import torch anew: that takes longer
than all else. So what torchrun starts is the guard of a rank: it imports what the rank needs, forks it, and forks the
next one when it is killed.
"""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from types import FrameType

import torch._dynamo  # noqa: F401 - half a second in each process, when it first makes an optimizer
from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]  # documented, but missing in __all__

from trainer.runtime.child import FORWARDED, fork
from trainer.runtime.launch import Launch
from trainer.runtime.log import note
from trainer.runtime.signals import STATUS, Termination
from trainer.runtime.store import connect, host
from trainer.runtime.watchdog import STATUS as HUNG

Live = Callable[[Launch, Callable[[str], None]], int]

_POLL_SECONDS = 1.0
_HURRIED_SECONDS = 0.05
# A rank whose peer was killed may end before that peer's guard has said so.
_HEAR_SECONDS = 2.0
# With NCCL a rank does not feel that a peer has gone: it is ended.
_LEAVE_SECONDS = 5.0
_GATHER_SECONDS = 10.0


def guarded(launch: Launch, restarts: int, termination: Termination, live: Live) -> int:
    """Runs `live` in a process of its own, up to `restarts` times again when a rank was killed; returns its status.

    `live` is given its launch and whom to tell under which name the ranks have met. Only ranks that a signal has killed
    start again in their places, and the others with them: one that ends by itself has a reason. If not all guards are
    there within seconds, the process ends as its rank did, for torchrun to see to it.

    Also returns in each of these processes, with what `live` returns, and raises there what `live` raises.
    """
    # What exists now is of no use to the garbage collector, which would copy the pages that guard and rank share.
    gc.freeze()
    if not launch.keeps_store:
        launch = replace(launch, meeting="first")
        if launch.rank == 0:
            host()
    for left in range(restarts, -1, -1):
        meetings, told = os.pipe()
        rank = fork()
        if not rank:
            os.close(meetings)
            return live(launch, partial(_tell, told))
        os.close(told)
        life = _Life(rank, launch, termination, meetings)
        status = life.wait()
        if status in (0, STATUS, HUNG) or not left or not life.gathers():
            break
        launch = replace(launch, meeting=life.next_meeting)
        note(f"{_reason(status)}: starts again in its place, {left - 1} more times before it is up to torchrun")
    return status if status >= 0 else 128 - status


class _Life:
    """One process that is the rank, seen from its guard, with the signals of `FORWARDED` blocked.

    A thread speaks with the other guards, since a store that is stopped keeps whoever asks it.
    """

    def __init__(self, rank: int, launch: Launch, termination: Termination, meetings: int) -> None:
        self.next_meeting = ""
        self._process = rank
        self._handle = os.pidfd_open(rank)
        self._launch = launch
        self._termination = termination
        self._meetings = meetings
        self._status = 0
        self._ended = threading.Event()
        self._has_heard = False
        termination.defer(threading.TIMEOUT_MAX)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in FORWARDED:
            signal.signal(number, self._forward)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        self._talk = threading.Thread(target=self._talk_to_the_others, name="guard", daemon=True)
        self._talk.start()

    def wait(self) -> int:
        """Its exit status when it has ended, negative for a signal."""
        self._status = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._ended.set()
        return self._status

    def gathers(self) -> bool:
        """Whether a rank was killed and the guards of all ranks are ready for the next meeting."""
        self._talk.join(_HEAR_SECONDS + 1)
        if self._has_heard:
            self._talk.join(_GATHER_SECONDS + 1)
        return bool(self.next_meeting) and not self._termination.requested

    def _talk_to_the_others(self) -> None:
        with os.fdopen(self._meetings) as told:
            name = told.read()
        if not name:
            return  # it ended before the ranks had met: nothing is agreed upon
        try:
            store = PrefixStore(f"guards-of-{name}", connect())
            self._has_heard = self._hears_of_a_kill(store)
            if self._has_heard:
                self._end()
                self._gather(store)
                self.next_meeting = f"after-{name}"
        except RuntimeError:
            return  # a guard is missing, or the store has gone with its node: torchrun starts all anew

    def _hears_of_a_kill(self, store: Store) -> bool:
        while not store.check(["killed"]) and not self._ended.wait(_POLL_SECONDS):
            pass
        if self._status < 0:
            store.set("killed", str(self._launch.rank))
        until = time.monotonic() + _HEAR_SECONDS
        # Not `wait`, which writes warnings of a timeout for each run that fails for another reason.
        while not (killed := store.check(["killed"])) and time.monotonic() < until:
            time.sleep(_HURRIED_SECONDS)
        return killed

    def _end(self) -> None:
        if not self._ended.wait(_LEAVE_SECONDS):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            self._ended.wait()

    def _gather(self, store: Store) -> None:
        if store.add("here", 1) == self._launch.size:
            store.set("all here", "")
        store.wait(["all here"], timedelta(seconds=_GATHER_SECONDS))

    def _forward(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler's signature
        if number == signal.SIGTERM and self._ended.is_set():
            os._exit(STATUS)
        with suppress(ProcessLookupError):  # it has just ended
            signal.pidfd_send_signal(self._handle, number)


def _tell(pipe: int, name: str) -> None:
    os.write(pipe, name.encode())
    os.close(pipe)


def _reason(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else "another rank was killed"
