"""Nodes whose supervisors were killed, told by their connections."""

from __future__ import annotations

import os
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.trainer.launch import wait_until
from trainer.runtime.child import FORWARDED_SIGNALS, fork_child
from trainer.runtime.peer_watch import PeerConnection, PeerWatch

HOST = "localhost"


@pytest.fixture
def watch() -> Iterator[PeerWatch]:
    with closing(PeerWatch()) as watch:
        yield watch


def connected(watch: PeerWatch, node: int) -> int:
    """Returns a process that stands for the supervisor of a node."""
    reader, writer = os.pipe()
    process = fork_child()
    if not process:
        connection = PeerConnection(HOST, watch.port, node)
        os.write(writer, b"1")
        signal.pause()
        connection.close()
        os._exit(0)
    # Later processes of this one would never receive them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
    os.read(reader, 1)
    os.close(reader)
    os.close(writer)
    return process


def test_a_node_is_killed_when_its_process_is(watch: PeerWatch) -> None:
    processes = [connected(watch, node) for node in (1, 2)]
    assert watch.killed() == frozenset()
    os.kill(processes[1], signal.SIGKILL)
    wait_until(watch.killed)
    assert watch.killed() == {2}
    os.kill(processes[0], signal.SIGKILL)
    wait_until(lambda: watch.killed() == {1, 2})
    for process in processes:
        os.waitpid(process, 0)


def test_a_node_whose_supervisor_ends_is_not_killed(watch: PeerWatch) -> None:
    PeerConnection(HOST, watch.port, 1).close()
    killed = PeerConnection(HOST, watch.port, 2)
    killed._socket.close()
    wait_until(lambda: watch.killed() == {2})


def test_a_connection_that_the_network_resets_says_nothing(watch: PeerWatch) -> None:
    connection = socket.create_connection((HOST, watch.port))
    connection.sendall(b"1 ")
    assert watch.killed() == frozenset()
    # A close without lingering sends a reset.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    last = socket.create_connection((HOST, watch.port))
    last.sendall(b"2 ")
    last.close()
    wait_until(lambda: watch.killed() == {2})


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n", b"-1 ", b"1" * 100, b"1 ..", b" "])
def test_a_stranger_is_no_node(watch: PeerWatch, said: bytes) -> None:
    with socket.create_connection((HOST, watch.port)) as connection:
        connection.sendall(said)
    killed = PeerConnection(HOST, watch.port, 2)
    killed._socket.close()
    wait_until(watch.killed)
    assert watch.killed() == {2}
