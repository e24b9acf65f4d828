"""Faults of a cluster's nodes, made and taken back, for tests of what has to notice them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .cluster import Cluster
from .engine import Engine

# The interface by which a node, and every pod on it, reaches the other nodes.
INTERFACE = "eth0"


@contextmanager
def slow(
    cluster: Cluster, engine: Engine, node: str, *, megabits: int = 200, interface: str = INTERFACE
) -> Iterator[None]:
    """Let a node send no more than this many Mbit/s over an interface, by a token bucket, until the block is left."""
    # In place of one that a killed test has left.
    bucket = ("rate", f"{megabits}mbit", "burst", "32kbit", "latency", "400ms")
    _tc(cluster, engine, node, "replace", "dev", interface, "root", "tbf", *bucket)
    try:
        yield
    finally:
        _tc(cluster, engine, node, "delete", "dev", interface, "root")


def _tc(cluster: Cluster, engine: Engine, node: str, *arguments: str) -> None:
    cluster.check(engine, node, "tc", "qdisc", *arguments)
