"""A run of `charts/training-job` on two nodes of its own cluster, whose pods measure the network between them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.harness.cluster import lifecycle
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import operator
from tests.harness.jobs.run import Run

PROGRAM = Path(__file__).with_name("link.py")
NAME = "trainyard-bench"
NAMESPACE = "bench"
SETTINGS: dict[str, object] = {
    "launcher": "command",
    "train.command": ["python3", "-c", PROGRAM.read_text()],
    "train.args": [],
    "checkpoints.enabled": False,
    "runPolicy.restartsPerNode": 0,
    "restartPolicy": "Never",
    "placement.spread": "required",
    # With the chart's default of half a CPU, throttling would be measured instead of the network.
    "resources.limits": {"cpu": 2, "memory": "1Gi"},
    "resources.requests": {"cpu": "100m", "memory": "512Mi"},
}


def measure() -> dict[str, list[float]]:
    """Return the seconds of each round, see `link`. Raises `ClusterError` when the run does not succeed."""
    with _cluster() as (cluster, engine):
        namespaces.create(cluster.kubeconfig, NAMESPACE)
        run = Run(cluster, engine, NAMESPACE, "link")
        run.install(settings=SETTINGS)
        outcome = run.follow()
        namespaces.delete(cluster.kubeconfig, NAMESPACE)
        run.require_success(outcome)
        (found,) = outcome.results
        return dict[str, Any](found)


@contextmanager
def _cluster() -> Iterator[tuple[Cluster, Engine]]:
    cluster = Cluster(NAME)
    engine = lifecycle.up(cluster)
    try:
        operator.install(cluster, engine)
        yield cluster, engine
    finally:
        if not os.environ.get("TRAINYARD_KEEP"):
            lifecycle.down(cluster)
