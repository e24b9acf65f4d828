"""Elastic runs that go on when the node with the rendezvous store is gone. Each launcher stands for a pod."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.trainer.launch import TIMEOUT_SECONDS
from tests.trainer.test_lost_nodes import GOES_ON, Nodes, signal_all


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    # Longer than the machine delays a heartbeat when it is busy.
    flags = ("--epochs=1000", "--batch-size=2", "--lost-node-seconds=10", "--hang-seconds=100")
    found = Nodes(tmp_path, *flags, launcher="trainer.launcher")
    try:
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_other_node_goes_on_without_the_store_and_takes_a_new_one_in(nodes: Nodes, number: signal.Signals) -> None:
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
