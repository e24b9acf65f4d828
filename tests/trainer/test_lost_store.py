"""Elastic runs that go on when the node with the rendezvous store is gone. Each launcher stands for a pod."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.trainer.launch import TIMEOUT_SECONDS
from tests.trainer.test_lost_nodes import CHECKPOINT_STEPS, GOES_ON, Nodes, signal_all


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Nodes]]:
    """Starts two nodes with further flags of the trainer."""
    started: list[Nodes] = []

    def nodes(*flags: str) -> Nodes:
        # Longer than the machine delays a heartbeat when it is busy.
        fixed = ("--epochs=1000", "--batch-size=2", "--lost-node-seconds=10", "--hang-seconds=100")
        started.append(Nodes(tmp_path, *fixed, *flags, launcher="trainer.launcher"))
        return started[0]

    try:
        yield nodes
    finally:
        for found in started:
            found.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_other_node_goes_on_without_the_store_and_takes_a_new_one_in(
    start: Callable[..., Nodes], number: signal.Signals
) -> None:
    nodes = start()
    if number == signal.SIGTERM:
        nodes.first.terminate()
    else:
        signal_all(nodes.first, number)
    nodes.wait_for_nodes(1)
    nodes.wait(lambda: nodes.last_step > nodes.starts[-1].step)
    nodes.first.communicate(timeout=TIMEOUT_SECONDS)
    nodes.replace_first()
    nodes.second.terminate()
    _, stderr = nodes.second.communicate(timeout=TIMEOUT_SECONDS)

    assert GOES_ON in stderr
    assert not nodes.repeated_steps


def test_a_node_that_is_alone_without_the_store_ends_with_the_run(start: Callable[..., Nodes]) -> None:
    nodes = start("--steps=2000")
    signal_all(nodes.first, signal.SIGKILL)
    stdout, stderr = nodes.second.communicate(timeout=TIMEOUT_SECONDS)

    assert nodes.second.returncode == 0, stderr
    assert "finished: " in stdout
    assert nodes.last_step == 2000
    assert not nodes.repeated_steps


def test_a_paused_node_with_the_second_store_is_left_out_and_joins_again(start: Callable[..., Nodes]) -> None:
    nodes = start()
    signal_all(nodes.second, signal.SIGSTOP)
    nodes.wait_for_nodes(1)
    signal_all(nodes.second, signal.SIGCONT)
    nodes.wait_for_nodes(2)


def test_the_other_node_goes_on_while_the_one_with_the_store_is_paused(start: Callable[..., Nodes]) -> None:
    nodes = start()
    starts = len(nodes.starts)
    signal_all(nodes.first, signal.SIGSTOP)
    together = nodes.last_step
    nodes.wait_for_nodes(1)
    assert nodes.starts[-1].step >= together
    nodes.wait(lambda: nodes.last_step > together + CHECKPOINT_STEPS)
    alone = nodes.last_step
    # The paused rank 0 still ends its step, and writes the event of it.
    signal_all(nodes.first, signal.SIGCONT)
    nodes.wait_for_nodes(2)
    assert nodes.starts[-1].step >= alone
    # The node that is back joins at once: the other one does not start alone once more.
    assert [start.world_size for start in nodes.starts[starts:]] == [1, 2]
