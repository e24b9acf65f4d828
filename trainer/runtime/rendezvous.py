"""The rendezvous of an agent that outlives the store: torchrun's own, which would end the agent without its store.

The store is in the agent of one node. When it is gone, this agent reports no change while it looks for a new one at the
same endpoint, so that its ranks may go on. Once the endpoint answers again, the agent ends its ranks and joins.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from torch.distributed.elastic.rendezvous import (
    RendezvousConnectionError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
    dynamic_rendezvous,
    rendezvous_handler_registry,
)
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import DEFAULT_PORT, create_backend
from torch.distributed.elastic.rendezvous.dynamic_rendezvous import create_handler
from torch.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint

from .store import address_towards

BACKEND = "c10d-outlived"

# The agent asks for changes between looks at its ranks, and must see their ends and its own signals.
_ANSWER_SECONDS = 1.0
# Counted in waits and not in time, because a pause of this process is no silence of the store.
_WAITS = 10
_PROBE_SECONDS = 0.25
_JOIN_SECONDS = 600
# torch has no setting for it: a node that joins looks at the store once per second, and waits a few times. It keeps
# what it has read for a second too.
_delay = dynamic_rendezvous._delay  # type: ignore[attr-defined]
_KEPT_SECONDS = 1.0
# Of all nodes together, which is no load for the store. More nodes look once per second each, as with torch.
_LOOKS_PER_SECOND = 100
_LEAST_DELAY = 0.025
_ADDRESS = "address"

Result = TypeVar("Result")


def register() -> None:
    """Makes `BACKEND` known to torchrun."""
    rendezvous_handler_registry.register(BACKEND, OutlivingHandler)


class OutlivingHandler(RendezvousHandler):
    """A handler of torchrun's c10d rendezvous, replaced by another one when its store is gone. For one thread."""

    def __init__(self, params: RendezvousParameters) -> None:
        self._params = params
        _shorten_delays(_share(params))
        dynamic_rendezvous.get_method_name = _no_method_name
        self._handler: RendezvousHandler | None = _connect(params)
        self._store: _StoreOfRound | None = None
        self._answer: _Call[int] | None = None
        self._waits = 0
        self._return: _Call[RendezvousHandler] | None = None

    def get_backend(self) -> str:
        """See base class."""
        return BACKEND

    @property
    def use_agent_store(self) -> bool:
        """See base class."""
        return self._handler is not None and self._handler.use_agent_store

    def next_rendezvous(self) -> RendezvousInfo:
        """Joins the next round, of a new store if the last one is gone.

        Raises:
            RendezvousTimeoutError: No store answers, or too few nodes join.
            RendezvousClosedError: The run has ended.
        """
        if self._answer and not self._answer.wait(_ANSWER_SECONDS):
            self._lose()  # the call still runs, and would disturb the next one
        self._answer = None
        deadline = time.monotonic() + (self._params.get_as_int("join_timeout") or _JOIN_SECONDS)
        while True:
            try:
                # No variable refers to the handler, so that it goes when it is lost.
                found = self._wait_for_handler(deadline).next_rendezvous()
                ranks_store = _ranks_store(found, self._params)
            # The first is that of the handler, the second that of the store itself.
            except (RendezvousConnectionError, RuntimeError):
                if time.monotonic() > deadline:
                    raise
                self._lose()
                continue
            self._store = _StoreOfRound(found.store)
            return RendezvousInfo(self._store, found.rank, found.world_size, ranks_store)  # type: ignore[arg-type]

    def num_nodes_waiting(self) -> int:
        """Returns the number of nodes that wait for the next round; 0 without a store.

        Returns 1 for a store that is back, and if this node has to join again.
        """
        if self._handler is None:
            return int(self._return is not None and self._return.has_ended)
        self._answer = self._answer or _Call(partial(_waiting, self._handler))
        if not self._answer.wait(_ANSWER_SECONDS):
            self._waits += 1
            if self._waits >= _WAITS:
                self._lose()
            return 0
        self._waits = 0
        answer, self._answer = self._answer, None
        try:
            return answer.result()
        except RendezvousConnectionError:
            self._lose()
            return 0

    def is_closed(self) -> bool:
        """See base class."""
        return self._handler is not None and self._handler.is_closed()

    def set_closed(self) -> None:
        """See base class."""
        if self._handler is not None:
            self._handler.set_closed()  # type: ignore[no-untyped-call]

    def get_run_id(self) -> str:
        """See base class."""
        return self._params.run_id

    def shutdown(self) -> bool:
        """See base class. Without a store there is nobody to tell."""
        return self._handler is None or self._answer is not None or self._handler.shutdown()

    def _lose(self) -> None:
        print("trainer: the rendezvous store is gone: looks for a new one", file=sys.stderr, flush=True)
        if self._handler:
            _end_heartbeats(self._handler)
        self._handler = self._answer = None
        self._waits = 0
        if self._store:
            self._store.lose()
        self._return = _Call(lambda: _find(self._params))

    def _wait_for_handler(self, deadline: float) -> RendezvousHandler:
        if self._handler is None:
            assert self._return  # noqa: S101 - there is no handler while it runs
            # A long wait in one call would delay the handlers of signals.
            while not self._return.wait(_PROBE_SECONDS):
                if time.monotonic() > deadline:
                    raise RendezvousTimeoutError(f"no store answers at {self._params.endpoint}")
            self._handler = self._return.result()
            self._return = None
        return self._handler


class _Call(Generic[Result]):
    """A call in a thread of its own, which may never return: that of a stopped store does not."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self._results: list[Result] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="rendezvous", daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """True once there is a result, or an error."""
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Waits for the end of the call up to some seconds; returns false if it has not ended."""
        self._thread.join(seconds)
        return self.has_ended

    def result(self) -> Result:
        """Returns the result of a call that has ended, or raises its error."""
        if self._error:
            # Its traceback refers to the caller, so a variable would keep both, and the handler.
            error, self._error = self._error, None
            try:
                raise error
            finally:
                del error
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._function())
        except Exception as error:
            # They would keep the handler of a call that nobody waits for.
            traceback.clear_frames(error.__traceback__)
            self._error = error.with_traceback(None)
        del self._function


class _StoreOfRound:
    """The store of a round, for the agent. Once it is lost, calls fail at once: those to a stopped store block."""

    def __init__(self, store: object) -> None:
        self._store = store
        self._is_lost = False

    def lose(self) -> None:
        """Lets all later calls fail."""
        self._is_lost = True

    def __getattr__(self, name: str) -> object:
        if self._is_lost:
            raise RuntimeError("the rendezvous store is gone")
        return getattr(self._store, name)


def _no_method_name(depth: int = 2) -> str:  # noqa: ARG001 - as in torch
    """Names the events of a rendezvous, which nobody records.

    torch reads the source of all frames for each name, which takes 0.3 s of a join.
    """
    return ""


def _share(params: RendezvousParameters) -> float:
    """Returns the share of torch's delays that a node of this run waits."""
    return min(1.0, max(_LEAST_DELAY, params.max_nodes / _LOOKS_PER_SECOND))


def _shorten_delays(share: float) -> None:
    def delay(seconds: float | tuple[float, float]) -> None:
        least, most = (seconds, seconds) if isinstance(seconds, (int, float)) else seconds
        _delay((least * share, most * share))

    dynamic_rendezvous._delay = delay  # type: ignore[attr-defined]


def _connect(params: RendezvousParameters) -> RendezvousHandler:
    backend, store = create_backend(params)
    handler = create_handler(store, backend, params)
    handler._state_holder._cache_duration = _KEPT_SECONDS * _share(params)  # type: ignore[attr-defined]
    return handler


def _end_heartbeats(handler: RendezvousHandler) -> None:
    """Ends the heartbeats of a handler after the current one, which a stopped store may hold for ever.

    torch would wait for it. If the thread of the heartbeats is the last one to drop the handler, it would wait for
    itself, and Python would print the traceback.
    """
    timer = handler._keep_alive_timer  # type: ignore[attr-defined]
    if timer and timer._finalizer:
        timer._finalizer.detach()
        timer._ctx.stop_event.set()


def _waiting(handler: RendezvousHandler) -> int:
    """Returns the number of nodes that wait for the next round; at least 1 if the others have left this node out.

    They do that if its heartbeats are late, for example those to a store that was paused. Then no round of theirs waits
    for this node, and its agent has to join one.
    """
    waiting = int(handler.num_nodes_waiting())
    participants = handler._state_holder.state.participants  # type: ignore[attr-defined]
    return waiting if handler._this_node in participants else max(1, waiting)  # type: ignore[attr-defined]


def _ranks_store(found: RendezvousInfo, params: RendezvousParameters) -> RendezvousStoreInfo:
    """Returns where the store of the ranks is: at an address, where torch has a name.

    The DNS has no name for a pod until seconds after its node is ready again, and all ranks would wait for it.
    """
    if found.rank == 0:
        host, _ = parse_rendezvous_endpoint(params.endpoint, default_port=DEFAULT_PORT)
        found.store.set(_ADDRESS, params.local_addr or address_towards(host))
    told = found.bootstrap_store_info
    assert told  # noqa: S101 - torch's handler of c10d always tells it
    return RendezvousStoreInfo(found.store.get(_ADDRESS).decode(), told.master_port)


def _find(params: RendezvousParameters) -> RendezvousHandler:
    """Waits until a store answers at the endpoint, and returns a handler of it."""
    address = parse_rendezvous_endpoint(params.endpoint, default_port=DEFAULT_PORT)
    while True:
        time.sleep(_PROBE_SECONDS)
        # PyTorch would log each attempt.
        with suppress(OSError, RendezvousConnectionError):
            socket.create_connection(address, timeout=_ANSWER_SECONDS).close()
            return _connect(params)
