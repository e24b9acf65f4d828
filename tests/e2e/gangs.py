"""Gangs of two pods with a device each: they hold nothing until there is room for both pods, and run one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.e2e import diagnosing
from tests.e2e.user import User
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import operator
from tests.harness.jobs.namespace import Kind
from tests.harness.jobs.run import Run

# Devices of the tests alone, which no plugin offers.
DEVICE = "example.com/device"
PROGRAM = "import time; print('began', time.time()); time.sleep(3); print('ended', time.time())"
SETTINGS: Mapping[str, object] = {
    "launcher": "command",
    "train.command": ["python3", "-c", PROGRAM],
    "train.args": [],
    "checkpoints.enabled": False,
    "resources": {"requests": {"cpu": "50m"}, "limits": {"cpu": "500m", "memory": "256Mi", DEVICE: 1}},
}


def offer(cluster: Cluster, **devices: int | None) -> None:
    """Set the number of devices of the first and the second worker; the kubelets keep what they do not know."""
    for node, count in zip(cluster.workers, devices.values(), strict=True):
        amounts = {DEVICE: None if count is None else str(count)}
        patch = json.dumps({"status": {"capacity": amounts, "allocatable": amounts}})
        api.kubectl(cluster.kubeconfig, "patch", "node", node, "--subresource=status", "--type=merge", "-p", patch)


@contextmanager
def one_device(cluster: Cluster) -> Iterator[None]:
    """Offer one device in the whole cluster, until the block ends."""
    offer(cluster, first=1, second=0)
    try:
        yield
    finally:
        offer(cluster, first=None, second=None)


@contextmanager
def namespace(cluster: Cluster) -> Iterator[str]:
    """Create a namespace with Pod Security `restricted`, and remove it with its runs at the end of the block."""
    name = f"gang-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@contextmanager
def of_operator(cluster: Cluster, engine: Engine, scheduler: str) -> Iterator[None]:
    """Let the training operator create PodGroups for this scheduler, until the block ends."""
    try:
        operator.install(cluster, engine, settings={"gangScheduler.name": scheduler})
        yield
    finally:
        operator.install(cluster, engine)


def install(cluster: Cluster, engine: Engine, namespace: str, kind: Kind, scheduler: str) -> list[Run]:
    """Install two gangs that do not fit on one device."""
    title = kind[1].lower()
    runs = [Run(cluster, engine, namespace, f"{title}-{name}", kind=kind) for name in ("first", "second")]
    for run in runs:
        run.install(settings={**SETTINGS, "scheduling.gang": {"scheduler": scheduler}, "nodes": 2})
    return runs


def placed(runs: Sequence[Run], connection: Any) -> list[str]:
    """Return the nodes of the pods that have one."""
    return [pod.spec.nodeName for run in runs for pod in run.pods(connection) if pod.spec.nodeName]


def require_waiting(runs: Sequence[Run], user: User, connection: Any) -> None:
    """Fail unless the gangs say that the devices do not suffice, while none of their pods has a node."""
    for run in runs:
        user.says(run.release, f"waits for its gang: not enough {DEVICE} for all of its pods; 0 of 2 pods run")
    assert placed(runs, connection) == []


def require_diagnosed(runs: Sequence[Run], folder: Path) -> None:
    """Fail unless doctor says of a gang that waits that it is incomplete, and nothing else."""
    run = runs[0]
    diagnosing.require(run.cluster, run.namespace, run.release, frozenset({"gang-incomplete"}), folder, 30)


def require_free(runs: Sequence[Run], connection: Any) -> None:
    """Fail unless another run of one pod uses the device while the gangs wait."""
    waiting = runs[0]
    alone = replace(waiting, release=f"{waiting.kind[1].lower()}-alone")
    alone.install(settings={**SETTINGS, "nodes": 1})
    outcome = alone.follow()
    alone.require_success(outcome)
    assert list(outcome.nodes.values()) == [waiting.cluster.workers[0]]
    assert placed(runs, connection) == []


def require_one_after_the_other(runs: Sequence[Run], cluster: Cluster) -> None:
    """Offer a second device, and fail unless both gangs run on both nodes, the later one after the earlier one."""
    offer(cluster, first=1, second=1)
    spans = []
    for run in runs:
        outcome = run.follow()
        run.require_success(outcome)
        assert set(outcome.nodes.values()) == set(cluster.workers)
        began, ended = (
            [float(line.split()[1]) for line in outcome.log if line.startswith(word)] for word in ("began", "ended")
        )
        assert len(began) == len(ended) == 2
        spans.append((min(began), max(ended)))
    (_, earlier_end), (later_begin, _) = sorted(spans)
    assert earlier_end < later_begin
