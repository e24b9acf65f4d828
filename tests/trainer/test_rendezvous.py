"""The rendezvous of an agent that outlives the store."""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

import pytest
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__
from torch.distributed.elastic.rendezvous import RendezvousParameters, RendezvousTimeoutError, dynamic_rendezvous

from tests.harness.ports import free_port
from tests.harness.trainer.launch import wait_until
from trainer.runtime import rendezvous
from trainer.runtime.rendezvous import BACKEND, OutlivingHandler


def serve(port: int) -> None:
    """Hosts a store until the process ends."""
    store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
    while store:
        signal.pause()


class Endpoint:
    """A port at which stores come and go, each in a process of its own."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    def start(self) -> None:
        """Hosts a new store."""
        self.process: BaseProcess = get_context("fork").Process(target=serve, args=(self.port,), daemon=True)
        self.process.start()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process of the store."""
        assert self.process.pid
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)
        if number == signal.SIGKILL:
            self.process.join()

    def handler(self, host: str = "127.0.0.1", local: str | None = "127.0.0.1", **settings: str) -> OutlivingHandler:
        """Returns the handler of an agent."""
        # A node is left out after three missed heartbeats, which are late on a busy machine.
        conf = {"is_host": "false", "last_call_timeout": "1", "keep_alive_interval": "5", **settings}
        return OutlivingHandler(RendezvousParameters(BACKEND, f"{host}:{self.port}", "run", 1, 2, local, **conf))

    def join(self, **settings: str) -> OutlivingHandler:
        """Returns the handler of an agent that has joined a round alone."""
        handler = self.handler(**settings)
        found = handler.next_rendezvous()
        assert (found.rank, found.world_size) == (0, 1)
        assert handler.num_nodes_waiting() == 0
        return handler


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    found = Endpoint()
    try:
        yield found
    finally:
        found.signal(signal.SIGKILL)


def lose(handler: OutlivingHandler, capfd: pytest.CaptureFixture[str]) -> None:
    """Waits until the handler has noticed that its store is gone; it reports no change meanwhile."""
    said = ""
    while "the rendezvous store is gone" not in said:
        assert handler.num_nodes_waiting() == 0
        said += capfd.readouterr().err


def test_an_agent_without_its_store_goes_on_and_joins_the_next_store(
    endpoint: Endpoint, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = endpoint.join()
    endpoint.signal(signal.SIGKILL)
    lose(handler, capfd)
    assert handler.num_nodes_waiting() == 0
    endpoint.start()
    wait_until(lambda: handler.num_nodes_waiting() == 1)

    found = handler.next_rendezvous()
    assert (found.rank, found.world_size) == (0, 1)
    found.store.set("key", "value")
    assert found.store.get("key") == b"value"
    assert handler.num_nodes_waiting() == 0
    assert handler.shutdown()


def test_an_agent_never_waits_long_for_a_stopped_store(
    endpoint: Endpoint, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendezvous, "_ANSWER_SECONDS", 0.1)
    handler = endpoint.join()
    endpoint.signal(signal.SIGSTOP)
    begin = time.monotonic()
    lose(handler, capfd)
    assert handler.num_nodes_waiting() == 0
    assert handler.shutdown()
    assert time.monotonic() - begin < 30

    endpoint.signal(signal.SIGCONT)
    wait_until(lambda: handler.num_nodes_waiting() == 1)


def test_the_store_of_a_round_fails_at_once_when_it_is_lost(
    endpoint: Endpoint, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendezvous, "_ANSWER_SECONDS", 0.1)
    handler = endpoint.join()
    store = handler.next_rendezvous().store
    store.set("key", "value")
    endpoint.signal(signal.SIGSTOP)
    lose(handler, capfd)

    with pytest.raises(RuntimeError, match="the rendezvous store is gone"):
        store.get("key")


@pytest.mark.parametrize("shared", ["0", "1"])
def test_ranks_get_an_address_because_the_name_of_a_pod_may_leave_the_dns(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, shared: str
) -> None:
    monkeypatch.setenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", shared)
    handlers = [endpoint.handler("localhost", None) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        found = pool.map(OutlivingHandler.next_rendezvous, handlers)
        stores = [one.bootstrap_store_info for one in found]
    assert stores[0] == stores[1]
    assert stores[0]
    assert stores[0].master_addr in ("127.0.0.1", "::1")


def test_an_agent_that_the_others_left_out_joins_them_again(endpoint: Endpoint) -> None:
    first, second = (endpoint.handler(keep_alive_interval="1") for _ in range(2))
    with ThreadPoolExecutor() as pool:
        ranks = [found.rank for found in pool.map(OutlivingHandler.next_rendezvous, (first, second))]
    assert sorted(ranks) == [0, 1]
    # As after a pause of the store, which keeps the heartbeats of the second node from the first one.
    assert second._handler
    second._handler._stop_heartbeats()  # type: ignore[attr-defined]
    wait_until(lambda: second.num_nodes_waiting() == 1)

    with ThreadPoolExecutor() as pool:
        back = pool.submit(second.next_rendezvous)
        wait_until(lambda: first.num_nodes_waiting() == 1)
        again = pool.submit(first.next_rendezvous)
        assert sorted((back.result().rank, again.result().rank)) == [0, 1]
    assert first.num_nodes_waiting() == second.num_nodes_waiting() == 0


def test_an_agent_that_has_no_store_to_join_gives_up_after_the_timeout(
    endpoint: Endpoint, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = endpoint.join(join_timeout="5")
    endpoint.signal(signal.SIGKILL)
    lose(handler, capfd)

    with pytest.raises(RendezvousTimeoutError, match="no store answers at"):
        handler.next_rendezvous()


@pytest.mark.parametrize(("nodes", "seconds"), [(2, 0.025), (50, 0.5), (1000, 1.0)])
def test_the_nodes_of_a_small_run_look_for_others_more_often(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, nodes: int, seconds: float
) -> None:
    waits: list[object] = []
    monkeypatch.setattr(rendezvous, "_delay", waits.append)
    params = RendezvousParameters(BACKEND, f"127.0.0.1:{endpoint.port}", "run", 1, nodes, "127.0.0.1", is_host="false")
    handler = OutlivingHandler(params)
    dynamic_rendezvous._delay(1)  # type: ignore[attr-defined]
    assert waits == [(seconds, seconds)]
    # What is kept is not read again.
    assert handler._handler._state_holder._cache_duration == seconds  # type: ignore[union-attr]


def test_a_join_does_not_read_the_sources_of_torch(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "stack", partial(pytest.fail, "torch reads the sources of all frames"))
    endpoint.join()
