"""Starts of launchers that are told the rank of the node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate import accelerate_commands
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.model.run import Command, Container


def node_launches(container: Container) -> Iterator[tuple[Command, str, str]]:
    """Yields the starts of torchrun and Accelerate, with their options for the rank and the number of nodes."""
    for launch in torchrun_commands(container):
        yield launch, "--node-rank", "--nnodes"
    for launch in accelerate_commands(container):
        yield launch, "--machine-rank", "--num-machines"
