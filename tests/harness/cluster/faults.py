"""Faults of a cluster's nodes: each is injected for the duration of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine

# The interface through which a node and its pods reach the other nodes.
INTERFACE = "eth0"


@contextmanager
def limit_bandwidth(
    cluster: Cluster, engine: Engine, node: str, *, megabits: int = 200, interface: str = INTERFACE
) -> Iterator[None]:
    """Limit what a node sends over an interface to this many Mbit/s, with a token bucket filter."""
    # `replace`: a test that was killed may have left a filter.
    bucket = ("rate", f"{megabits}mbit", "burst", "32kbit", "latency", "400ms")
    _tc(cluster, engine, node, "replace", "dev", interface, "root", "tbf", *bucket)
    try:
        yield
    finally:
        _tc(cluster, engine, node, "delete", "dev", interface, "root")


def _tc(cluster: Cluster, engine: Engine, node: str, *arguments: str) -> None:
    cluster.check(engine, node, "tc", "qdisc", *arguments)
