"""SIGTERM, with which Kubernetes asks a pod to stop."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path

from .launch import TIMEOUT_SECONDS, start
from .ports import free_port


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_sigterm_ends_a_rank_at_once_even_while_it_waits_for_its_peers(tmp_path: Path) -> None:
    port = free_port()
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    # Threads that a library starts by itself must not take the signal: its default action does nothing to PID 1.
    waiting = start(tmp_path, environment=launch | {"OMP_NUM_THREADS": "4"})
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not is_listening(port):
        assert waiting.process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    waiting.process.terminate()
    finished = waiting.finish()
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.stderr == ""
