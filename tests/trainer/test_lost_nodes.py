"""Elastic runs that go on when a node is gone. Each torchrun stands for a pod."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.harness.trainer import elastic
from tests.harness.trainer.fork_server import Forked, fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, wait_until
from tools.faults import timeline
from tools.faults.timeline import Event

# A save takes as long as many steps, and a kill within one repeats steps. So saves are rare.
CHECKPOINT_STEPS = 200
GOES_ON = "1 of 2 nodes are gone: starts again in its place"


class Nodes:
    """Two nodes of one elastic run, each with one rank. The first one hosts the store and has rank 0."""

    def __init__(self, folder: Path, *flags: str, launcher: str = "tests.harness.trainer.torchrun") -> None:
        self._launcher = launcher
        self._events = folder / "events.jsonl"
        self.checkpoints = folder / "checkpoints"
        self._options = [
            *elastic.options(),
            "--max-restarts=3",
            "-m",
            "trainer",
            f"--checkpoint-dir={self.checkpoints}",
            f"--checkpoint-steps={CHECKPOINT_STEPS}",
            "--no-async-checkpoints",
            f"--events-file={self._events}",
            *flags,
        ]
        self.first, self.second = (self._start(number) for number in (1, 2))
        self.wait(lambda: self.starts and self.last_step > CHECKPOINT_STEPS)
        # The nodes may have met one after the other.
        self.wait_for_nodes(2)

    def replace_first(self) -> None:
        """Starts another first node, as the operator does for a pod that is gone, and waits until both train."""
        self.first = self._start(1)
        starts = len(self.starts)
        self.wait(lambda: len(self.starts) > starts and self.starts[-1].world_size == 2)
        self.wait(lambda: self.last_step > self.starts[-1].step)

    def _start(self, number: int) -> Forked:
        return fork([self._launcher, *elastic.node_options(number), *self._options], elastic.VARIABLES)

    @property
    def starts(self) -> list[Event]:
        """The event of each start of the training."""
        return [event for event in timeline.read(self._events) if event.name == "started"]

    @property
    def steps(self) -> list[int]:
        """The number of each step, in the order of training."""
        return [event.step for event in timeline.steps(timeline.read(self._events))]

    @property
    def repeated_steps(self) -> list[int]:
        """The numbers of the steps that were not above the one before."""
        return [step for before, step in pairwise(self.steps) if step <= before]

    @property
    def last_step(self) -> int:
        """The number of the last step; 0 before the first one."""
        return (self.steps or [0])[-1]

    def wait_for_nodes(self, number: int) -> None:
        """Waits until so many nodes train together."""
        self.wait(lambda: self.starts[-1].world_size == number)

    def wait(self, condition: Callable[[], object]) -> None:
        """Waits until `condition` returns something true, while a node runs."""

        def reached() -> object:
            found = condition()
            assert found or None in (self.first.poll(), self.second.poll()), self.first.communicate()[1]
            return found

        wait_until(reached)

    def close(self) -> None:
        """Kills what is left."""
        for node in (self.first, self.second):
            signal_all(node, signal.SIGKILL)


def signal_all(node: Forked, number: int) -> None:
    """Sends a signal to all processes of a node."""
    for process in node.family():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    # Longer than the machine delays a heartbeat when it is busy.
    found = Nodes(tmp_path, "--epochs=1000", "--batch-size=2", "--lost-node-seconds=10", "--hang-seconds=100")
    try:
        yield found
    finally:
        found.close()


def test_the_other_node_goes_on_at_the_next_step_when_one_is_told_to_end(nodes: Nodes) -> None:
    nodes.second.terminate()
    nodes.wait_for_nodes(1)
    nodes.second.communicate(timeout=TIMEOUT_SECONDS)
    nodes.first.terminate()
    _, stderr = nodes.first.communicate(timeout=TIMEOUT_SECONDS)

    assert GOES_ON in stderr
    assert not nodes.repeated_steps


def test_the_other_node_goes_on_at_the_next_step_when_one_is_killed(nodes: Nodes) -> None:
    signal_all(nodes.second, signal.SIGKILL)
    nodes.wait_for_nodes(1)
    nodes.wait(lambda: nodes.last_step > nodes.starts[-1].step)

    assert not nodes.repeated_steps


def test_the_other_node_saves_the_last_step_when_the_one_with_rank_0_is_killed(nodes: Nodes) -> None:
    last = nodes.last_step
    signal_all(nodes.first, signal.SIGKILL)
    # The other node ends without a store, or goes on alone if its ranks restart before it misses the store.
    wait_until(lambda: nodes.second.poll() is not None or nodes.last_step > last + CHECKPOINT_STEPS)
    signal_all(nodes.second, signal.SIGKILL)
    _, stderr = nodes.second.communicate(timeout=TIMEOUT_SECONDS)

    saved = re.search(r"lost its peers and saved alone: step=(\d+) ", stderr)
    assert saved, stderr
    assert int(saved[1]) >= last
    assert not nodes.repeated_steps


def test_a_paused_node_is_left_out_and_joins_again(nodes: Nodes) -> None:
    signal_all(nodes.second, signal.SIGSTOP)
    nodes.wait_for_nodes(1)
    nodes.wait(lambda: nodes.last_step > nodes.starts[-1].step)
    # No collective fails: the rank that waits in one saves what is in its memory.
    assert not nodes.repeated_steps
    signal_all(nodes.second, signal.SIGCONT)
    nodes.wait_for_nodes(2)
