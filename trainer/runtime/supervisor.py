"""The supervisor of a rank: restarts it in place, together with the other ranks, when one is killed.

When a process ends, torchrun starts new processes everywhere. They repeat the rendezvous and import torch again, which
takes longer than everything else. So torchrun starts a supervisor for each rank instead: it imports what the rank
needs, forks it, and forks a new one if a rank is killed.
"""

from __future__ import annotations

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

from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]  # documented, but missing in __all__

from .child import FORWARDED_SIGNALS, fork_child
from .launch import Launch
from .log import log_rank
from .signals import SIGTERM_STATUS, Termination
from .store import connect_store, host_store
from .watchdog import HANG_STATUS

RankProgram = Callable[[Launch, Callable[[str], None]], int]

_POLL_SECONDS = 1.0
_FAST_POLL_SECONDS = 0.05
# A rank whose peer was killed may end before the peer's supervisor has reported the kill.
_KILL_NOTICE_SECONDS = 2.0
# With NCCL a rank does not notice that a peer is gone; it is killed after this time.
_EXIT_SECONDS = 5.0
_READY_SECONDS = 10.0


def supervise(launch: Launch, restarts: int, termination: Termination, program: RankProgram) -> int:
    """Runs `program` in a child process and restarts it up to `restarts` times if a rank is killed.

    All ranks restart together, and only if one of them was killed by a signal: a rank that exits by itself has a reason
    to. If the supervisors of all ranks are not ready within seconds, this process exits as its rank did and torchrun
    takes over.

    This function also returns in each child, with what `program` returns, and raises what `program` raises.

    Args:
        launch: The place of this rank in the launch.
        restarts: Restarts before torchrun takes over.
        termination: The SIGTERM handler of this process.
        program: Called with the launch, and with a function to call with the rendezvous ID.

    Returns:
        The exit status of the last child.
    """
    # A garbage collection would write to, and so copy, the memory pages that the supervisor shares with its child.
    gc.freeze()
    if not launch.has_agent_store:
        launch = replace(launch, store_prefix="first")
        if launch.rank == 0:
            host_store()
    for left in range(restarts, -1, -1):
        rendezvous_pipe, write_end = os.pipe()
        rank = fork_child()
        if not rank:
            os.close(rendezvous_pipe)
            return program(launch, partial(_send, write_end))
        os.close(write_end)
        child = _SupervisedRank(rank, launch, termination, rendezvous_pipe)
        status = child.wait()
        if status in (0, SIGTERM_STATUS, HANG_STATUS) or not left or not child.can_restart():
            break
        launch = replace(launch, store_prefix=child.next_prefix)
        log_rank(f"{_reason(status)}: starts again in its place; {left - 1} more restarts before torchrun takes over")
    return status if status >= 0 else 128 - status


class _SupervisedRank:
    """A child process that runs the rank. Created with `FORWARDED_SIGNALS` blocked.

    A thread coordinates with the other supervisors, because calls to a stopped store block.
    """

    def __init__(self, rank: int, launch: Launch, termination: Termination, rendezvous_pipe: int) -> None:
        self.next_prefix = ""
        self._process = rank
        self._handle = os.pidfd_open(rank)
        self._launch = launch
        self._termination = termination
        self._rendezvous_pipe = rendezvous_pipe
        self._status = 0
        self._ended = threading.Event()
        self._kill_reported = False
        # Not by a handler: a SIGTERM that another thread receives before the handler is installed would be lost.
        termination.forward(self._terminate)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, lambda number, _: self._send(number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
        self._coordinator = threading.Thread(target=self._coordinate, name="supervisor", daemon=True)
        self._coordinator.start()

    def wait(self) -> int:
        """Waits for the child to end; returns its exit status, negative for a signal."""
        self._status = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._ended.set()
        return self._status

    def can_restart(self) -> bool:
        """Returns true if a rank was killed and the supervisors of all ranks are ready for the next rendezvous."""
        self._coordinator.join(_KILL_NOTICE_SECONDS + 1)
        if self._kill_reported:
            self._coordinator.join(_READY_SECONDS + 1)
        return bool(self.next_prefix) and not self._termination.requested

    def _coordinate(self) -> None:
        with os.fdopen(self._rendezvous_pipe) as pipe:
            rendezvous_id = pipe.read()
        if not rendezvous_id:
            return  # the child ended before the rendezvous, so the supervisors share no name to coordinate under
        try:
            store = PrefixStore(f"supervisors-{rendezvous_id}", connect_store())
            self._kill_reported = self._learns_of_kill(store)
            if self._kill_reported:
                self._end()
                self._wait_for_supervisors(store)
                self.next_prefix = f"after-{rendezvous_id}"
        except RuntimeError:
            return  # a supervisor is missing, or the store is gone with its node: torchrun restarts everything

    def _learns_of_kill(self, store: Store) -> bool:
        while not store.check(["killed"]) and not self._ended.wait(_POLL_SECONDS):
            pass
        if self._status < 0:
            store.set("killed", str(self._launch.rank))
        until = time.monotonic() + _KILL_NOTICE_SECONDS
        # Store.wait would log a timeout warning for each run that fails for another reason.
        while not (killed := store.check(["killed"])) and time.monotonic() < until:
            time.sleep(_FAST_POLL_SECONDS)
        return killed

    def _end(self) -> None:
        if not self._ended.wait(_EXIT_SECONDS):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            self._ended.wait()

    def _wait_for_supervisors(self, store: Store) -> None:
        if store.add("ready", 1) == self._launch.size:
            store.set("all-ready", "")
        store.wait(["all-ready"], timedelta(seconds=_READY_SECONDS))

    def _terminate(self) -> None:
        if self._ended.is_set():
            os._exit(SIGTERM_STATUS)
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):  # the child has just ended
            signal.pidfd_send_signal(self._handle, number)


def _send(pipe: int, name: str) -> None:
    os.write(pipe, name.encode())
    os.close(pipe)


def _reason(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else "another rank was killed"
