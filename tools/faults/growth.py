"""`python -m tools.faults.growth`: the pause of an elastic run that a node joins, with torchrun and our launcher.

Two agents on this machine stand for pods. The launchers take turns, so that another load slows down both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tests.harness.cluster.command import exit_status
from tests.harness.cluster.errors import ClusterError
from tests.harness.trainer import elastic
from tools.faults import timeline

LAUNCHERS = ("torch.distributed.run", "trainer.launcher")
NODES = 2
STEPS_BEFORE = 30
LIMIT_SECONDS = 300


def command(rounds: Annotated[int, typer.Option(help="Measurements of each launcher.", min=1)] = 3) -> None:
    """Print the seconds between the last step of one node and the first step of two."""
    print("| launcher | seconds without a step | load average |\n| --- | --- | --- |")
    for _ in range(rounds):
        for launcher in LAUNCHERS:
            with tempfile.TemporaryDirectory() as folder:
                pause = measure(launcher, Path(folder))
            print(f"| {launcher} | {pause:.1f} | {os.getloadavg()[0]:.1f} |", flush=True)


def measure(launcher: str, folder: Path) -> float:
    """Return the seconds of the pause; the run lives in this folder."""
    events = folder / "events.jsonl"
    words = [
        *elastic.options(),
        *("-m", "trainer", "--epochs=100000", "--checkpoint-steps=20", f"--checkpoint-dir={folder}/checkpoints"),
        f"--events-file={events}",
    ]
    nodes: list[subprocess.Popen[bytes]] = []
    try:
        _join(nodes, launcher, words, folder)
        _wait(lambda: len(timeline.steps(timeline.read(events))) >= STEPS_BEFORE, folder)
        _join(nodes, launcher, words, folder)
        _wait(lambda: growth(timeline.read(events)) is not None, folder)
    finally:
        for node in nodes:
            node.terminate()
        for node in nodes:
            node.wait()
    pause = growth(timeline.read(events))
    assert pause is not None
    return pause


def _join(nodes: list[subprocess.Popen[bytes]], launcher: str, words: list[str], folder: Path) -> None:
    with (folder / "log").open("ab") as log:
        command = [sys.executable, "-m", launcher, *elastic.node_options(len(nodes) + 1), *words]
        nodes.append(subprocess.Popen(command, env=elastic.VARIABLES, stdout=log, stderr=log))


def growth(events: list[timeline.Event]) -> float | None:
    """Return the pause before the first step of two ranks; None before that."""
    grown = next((at for at, event in enumerate(events) if event.world_size == NODES), len(events))
    before, after = timeline.steps(events[:grown]), timeline.steps(events[grown:])
    return after[0].time - before[-1].time if after else None


def _wait(reached: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not reached():
        if time.monotonic() > deadline:
            said = "\n".join((folder / "log").read_text(errors="replace").splitlines()[-12:])
            raise ClusterError(f"no growth after {LIMIT_SECONDS} s:\n{said}", hint="run the same command again")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
