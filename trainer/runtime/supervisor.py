"""The supervisor of a rank: restarts it in place with the others, if one fails or an elastic run loses a node.

When a process ends, torchrun starts new processes everywhere. They repeat the rendezvous and import torch again, which
takes longer than everything else. So torchrun starts a supervisor for each rank instead: it imports what the rank
needs, forks it, and forks a new one if a rank fails. In an elastic run, the supervisors of the other nodes fork
ranks for a smaller world if a node is gone. torchrun admits a new node later.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from torch.distributed import PrefixStore, Store  # type: ignore[attr-defined]  # documented, but missing in __all__

from .child import FORWARDED_SIGNALS, fork_child
from .launch import Launch
from .log import log_rank
from .membership import HEARTBEAT_SECONDS, Membership, launch_of
from .signals import SIGTERM_STATUS, Termination
from .store import connect_store, host_backup, host_store, split_address
from .supervision import Cause, SaveState, SupervisedRank, Supervision
from .watchdog import HANG_STATUS

RankProgram = Callable[[Launch, Supervision], int]

_POLL_SECONDS = 1.0
_FAST_POLL_SECONDS = 0.05
# A rank whose peer has failed may end before the peer's supervisor has reported it.
_FAILURE_NOTICE_SECONDS = 2.0
# Longer than a node is silent before it is gone.
_LOSS_NOTICE_SECONDS = 3.0
# A rank that cannot save is killed after this time. With NCCL it does not notice that a peer is gone.
_EXIT_SECONDS = 5.0
_READY_SECONDS = 10.0
# Within this time a rank that has lost its peers begins to save.
_REACTION_SECONDS = 1.5
# The longest save of such a rank; it is killed then.
_SAVE_SECONDS = 60.0
_LAST_BEAT_SECONDS = 1.0
# The node of the backup of the store; node 0 has the store.
_BACKUP_NODE = 1
# The key of a supervisor whose rank saves.
_SAVING = "saving"


def supervise(
    launch: Launch, termination: Termination, program: RankProgram, *, restarts: int, lost_node_seconds: float
) -> int:
    """Runs `program` in a child process and restarts it up to `restarts` times if a rank fails or a node is gone.

    All ranks restart together: if one of them was killed by a signal; if one failed by itself, and went further than in
    its last attempt; or, in an elastic run, without the nodes that are gone. A `TrainerError` ends the attempt. If the
    supervisors of all ranks are not ready within seconds, this process exits as its rank did and torchrun takes over.

    This function also returns in each child, with what `program` returns, and raises what `program` raises.

    Args:
        launch: The place of this rank in the launch.
        termination: The SIGTERM handler of this process.
        program: Called with the launch, and with what the rank tells this supervisor.
        restarts: Restarts before torchrun takes over.
        lost_node_seconds: A node that sends no heartbeat for so long is gone; 0: only when a rank has failed.

    Returns:
        The exit status of the last child.
    """
    # A garbage collection would write to, and so copy, the memory pages that the supervisor shares with its child.
    gc.freeze()
    if not launch.has_agent_store:
        launch = replace(launch, store_prefix="first")
        if launch.rank == 0:
            host_store()
    backup = ""
    supervised = SupervisedRank()
    for left in range(restarts, -1, -1):
        # After the loss of the first node, its backup is the store, and the next node has another backup.
        hosts_backup = launch.has_backup and (launch.node, launch.local_rank) == (_BACKUP_NODE, 0)
        backup = (backup or host_backup()) if hosts_backup else ""
        supervised.begin_attempt()
        rank = fork_child()
        if not rank:
            supervised.enter_rank()
            try:
                return program(launch, supervised)
            except Exception as error:
                supervised.failed(error)
                raise
        supervised.enter_supervisor()
        child = _Attempt(rank, launch, termination, supervised, lost_node_seconds, backup)
        status = child.wait()
        following = child.next_launch() if left or status == SIGTERM_STATUS else None
        supervised.end_attempt()
        if following is None:
            break
        log_rank(
            f"{_reason(status, launch, following)}: starts again in its place; "
            f"{left - 1} more restarts before torchrun takes over"
        )
        if following.size < launch.size:
            following.export(os.environ)
        launch = following
    return status if status >= 0 else 128 - status


class _LeftOutError(RuntimeError):
    """The other nodes go on without this one; torchrun lets it join again."""


class _Attempt:
    """A child process that runs the rank. Created with `FORWARDED_SIGNALS` blocked.

    Threads coordinate with the other supervisors, because calls to a stopped store block: one for the store of the
    ranks, and one for the backup, whose address is `backup` if this process hosts it.
    """

    def __init__(
        self,
        rank: int,
        launch: Launch,
        termination: Termination,
        supervised: SupervisedRank,
        lost_node_seconds: float,
        backup: str,
    ) -> None:
        self._process = rank
        self._handle = os.pidfd_open(rank)
        self._launch = launch
        self._termination = termination
        self._supervised = supervised
        self._lost_node_seconds = lost_node_seconds
        self._backup = backup
        self._status = 0
        self._ended = threading.Event()
        # Held by the thread that restarts the rank. `_is_settled` is set once it is clear what follows.
        self._restarting = threading.Lock()
        self._is_settled = threading.Event()
        self._results: queue.SimpleQueue[Launch | None] = queue.SimpleQueue()
        # Not by a handler: a SIGTERM that another thread receives before the handler is installed would be lost.
        termination.forward(self._terminate)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, lambda number, _: self._send(number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
        self._coordinators: list[threading.Thread] = []
        self._start(self._coordinate)

    def wait(self) -> int:
        """Waits for the child to end; returns its exit status, negative for a signal."""
        self._status = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._ended.set()
        return self._status

    def next_launch(self) -> Launch | None:
        """Returns the launch in which the rank starts again, once all supervisors are ready; None if it does not.

        The rank starts again if a rank has failed, or a node of an elastic run is gone.
        """
        if self._has_own_reason():
            # Its last heartbeats tell the nodes that go on.
            for coordinator in self._coordinators:
                coordinator.join(_LAST_BEAT_SECONDS)
            return None
        launch = self._result(_LOSS_NOTICE_SECONDS + 1)
        if not launch and self._restarting.locked():
            launch = self._result(_READY_SECONDS + _SAVE_SECONDS + 1)
        self._is_settled.set()
        return None if self._termination.requested else launch

    def _result(self, seconds: float) -> Launch | None:
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty:
            return None

    def _start(self, coordinate: Callable[[], None]) -> None:
        self._coordinators.append(threading.Thread(target=coordinate, name="supervisor", daemon=True))
        self._coordinators[-1].start()

    def _coordinate(self) -> None:
        rendezvous_id = self._supervised.read_rendezvous_id()
        try:
            # Without it the child ended before the rendezvous: the supervisors share no name to coordinate under.
            if rendezvous_id:
                if self._launch.has_backup:
                    self._start(partial(self._coordinate_without_first, rendezvous_id))
                connection = connect_store()
                store = PrefixStore(f"supervisors-{rendezvous_id}", connection)
                if self._backup:
                    store.set("backup", self._backup)
                if launch := self._agree(store, connection.host):
                    self._restart(store, launch, rendezvous_id)
        except _LeftOutError:
            pass  # the rank does not start again
        except RuntimeError:
            # A supervisor is missing, or the store is gone with its node. Those of the other nodes may agree without
            # it, or torchrun restarts everything.
            if self._launch.has_backup:
                return
        self._give_up()

    def _give_up(self) -> None:
        """Lets the rank not start again, unless it does already."""
        with self._restarting:
            if not self._is_settled.is_set():
                self._is_settled.set()
                self._results.put(None)

    def _coordinate_without_first(self, rendezvous_id: str) -> None:
        """Takes part in the decision to go on without the first node, in the store of the second one."""
        prefix = f"supervisors-{rendezvous_id}"
        with suppress(RuntimeError):
            address = PrefixStore(prefix, connect_store()).get("backup").decode()
            store = PrefixStore(prefix, connect_store(address=address))
            host, port = split_address(address)
            membership = Membership(store, host, self._launch, self._lost_node_seconds, leader=_BACKUP_NODE)
            with closing(membership):
                survivors = self._survivors_of_first(membership)
            if survivors is not None:
                launch = replace(self._following(survivors), master_addr=host, master_port=port)
                self._restart(store, launch, rendezvous_id)

    def _survivors_of_first(self, membership: Membership) -> list[int] | None:
        while not self._is_settled.is_set():
            has_ended = self._ended.is_set()
            membership.beat(leaving=self._termination.requested)
            if has_ended and self._has_own_reason():
                return None
            survivors = membership.survivors(failed=has_ended)
            if survivors is not None:
                return survivors
            if not self._ended.wait(HEARTBEAT_SECONDS) or has_ended:
                time.sleep(_FAST_POLL_SECONDS)
        return None

    def _restart(self, store: Store, launch: Launch, rendezvous_id: str) -> None:
        """Ends the child, and starts it again in this launch once all supervisors are ready."""
        with self._restarting:
            if self._is_settled.is_set():
                return
            self._save_and_end(store, launch)
            _wait_for_supervisors(store, launch.size)
            self._is_settled.set()
            self._results.put(replace(launch, store_prefix=f"after-{rendezvous_id}", rendezvous_before=rendezvous_id))

    def _agree(self, store: Store, host: str) -> Launch | None:
        """Waits for the end of the child, or for a reason to end it; returns the launch in which it starts again."""
        if not self._launch.is_elastic:
            return self._agreed(store, None)
        with closing(Membership(store, host, self._launch, self._lost_node_seconds)) as membership:
            return self._agreed(store, membership)

    def _agreed(self, store: Store, membership: Membership | None) -> Launch | None:
        interval = HEARTBEAT_SECONDS if membership else _POLL_SECONDS
        while not (launch := self._decision(store, membership)) and not self._ended.wait(interval):
            pass
        if membership and self._termination.requested:
            membership.beat(leaving=True)  # the last one, for the nodes that go on
        # The store may have been stopped, and the others may have gone on without its node meanwhile.
        if launch or self._is_settled.is_set() or self._has_own_reason():
            return launch
        if self._asks_for_restart(store):
            store.set("failed", str(self._launch.rank))
        until = time.monotonic() + (_LOSS_NOTICE_SECONDS if membership else _FAILURE_NOTICE_SECONDS)
        # Store.wait would log a timeout warning for each run that fails for another reason.
        while not (launch := self._decision(store, membership)) and time.monotonic() < until:
            time.sleep(_FAST_POLL_SECONDS)
        return launch

    def _decision(self, store: Store, membership: Membership | None) -> Launch | None:
        if membership:
            membership.beat(leaving=self._termination.requested)
            survivors = membership.survivors(failed=self._ended.is_set() and not self._has_own_reason())
            if survivors is not None:
                return self._following(survivors)
        return self._launch if store.check(["failed"]) else None

    def _following(self, survivors: list[int]) -> Launch:
        if self._launch.node in survivors:
            return launch_of(survivors, self._launch)
        if not self._termination.requested:
            log_rank("the other nodes go on without this one, which sent no heartbeat")
        # First, because the end of the child would be a reason to start all ranks again.
        self._give_up()
        self._kill()
        raise _LeftOutError

    def _has_own_reason(self) -> bool:
        """Returns true if the child, which has ended, did so for a reason that no other supervisor has to confirm."""
        is_stopped = self._status in (SIGTERM_STATUS, HANG_STATUS)
        return not self._status or self._termination.requested or (is_stopped and not self._launch.is_elastic)

    def _asks_for_restart(self, store: Store) -> bool:
        """Returns true if the end of the child is a reason to start all ranks again."""
        if self._status in (0, SIGTERM_STATUS, HANG_STATUS):
            return False
        if self._status < 0 or self._supervised.cause == Cause.RANK:
            return True
        # If all ranks blame another one, the network has failed, and no rank.
        return self._supervised.cause == Cause.PEER and store.add("blame", 1) == self._launch.size

    def _save_and_end(self, store: Store, launch: Launch) -> None:
        """Ends the child, which waits for a peer that is gone, once it has saved what it has in memory."""
        if self._ended.is_set():
            return
        if self._supervised.last_save == SaveState.UNAVAILABLE:
            # One that waits for a node that is gone never ends.
            self._ended.wait(_EXIT_SECONDS if launch.size == self._launch.size else 0.0)
        else:
            self._supervised.request_last_save(replaces_first=launch.takes_over and not launch.rank)
            until = time.monotonic() + _REACTION_SECONDS
            while self._supervised.last_save == SaveState.AVAILABLE and time.monotonic() < until:
                if self._ended.wait(_FAST_POLL_SECONDS):
                    return
            if self._supervised.last_save == SaveState.RUNNING:
                store.set(_SAVING, "")
                self._ended.wait(_SAVE_SECONDS)
        self._kill()

    def _kill(self) -> None:
        if not self._ended.is_set():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            self._ended.wait()

    def _terminate(self) -> None:
        if self._ended.is_set():
            os._exit(SIGTERM_STATUS)
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):  # the child has just ended
            signal.pidfd_send_signal(self._handle, number)


def _wait_for_supervisors(store: Store, size: int) -> None:
    key = f"ready-{size}"
    if store.add(key, 1) == size:
        store.set(f"all-{key}", "")
    try:
        store.wait([f"all-{key}"], timedelta(seconds=_READY_SECONDS))
    except RuntimeError:
        if not store.check([_SAVING]):
            raise
        store.wait([f"all-{key}"], timedelta(seconds=_SAVE_SECONDS))


def _reason(status: int, launch: Launch, following: Launch) -> str:
    if following.nodes < launch.nodes:
        return f"{launch.nodes - following.nodes} of {launch.nodes} nodes are gone"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"a rank has failed (status {status} here)"
