"""SIGTERM, with which Kubernetes asks a pod to stop."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

from tests.processes import left_behind
from trainer.checkpoint.catalogue import published

from .launch import start, wait_until
from .ports import free_port


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_sigterm_ends_a_rank_at_once_even_while_it_waits_for_its_peers(tmp_path: Path) -> None:
    port = free_port()
    launch = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    # Threads that a library starts by itself must not take the signal: its default action does nothing to PID 1.
    waiting = start(tmp_path, environment=launch | {"OMP_NUM_THREADS": "4"})
    waiting.wait_for(lambda: is_listening(port))
    waiting.process.terminate()
    finished = waiting.finish()
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.stderr == ""


def test_processes_that_read_ahead_outlive_the_signal_until_the_rank_has_saved(tmp_path: Path) -> None:
    events, mark = tmp_path / "events.jsonl", ("TRAINER_OF_TEST", str(tmp_path))
    # The readers are new in each epoch: this one lasts for seconds.
    flags = ("--epochs=100", "--batch-size=1", "--loader-workers=2", f"--events-file={events}")
    run = start(tmp_path / "checkpoints", *flags, environment=dict([mark]))
    run.wait_for(lambda: events.exists() and '"event": "step"' in events.read_text())
    # The rank, the server that others are forked from, the readers: torchrun's signal reaches all of them.
    processes = left_behind(*mark)
    for process in processes:
        os.kill(process, signal.SIGTERM)
    finished = run.finish()

    assert len(processes) >= 4
    assert finished.returncode == 128 + signal.SIGTERM
    assert finished.errors == []
    steps = [event["step"] for event in map(json.loads, events.read_text().splitlines()) if event["event"] == "step"]
    assert [step for step, _ in published(run.directory)] == [steps[-1]]
    wait_until(lambda: not left_behind(*mark))
