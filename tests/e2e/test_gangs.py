"""Gangs of TrainJobs with scheduler-plugins: all pods of a run are placed or none, and none holds a device before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from tests.e2e.user import User
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import coscheduling
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import Run

# Where no cache has it, the scheduler is built meanwhile.
pytestmark = pytest.mark.timeout(1200)

# Devices of the test alone, which no plugin offers.
DEVICE = "example.com/device"
GANG = {"scheduling.gang": {"scheduler": "scheduler-plugins"}}
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


@pytest.fixture(scope="module")
def devices(cluster: Cluster) -> Iterator[None]:
    """One device in the whole cluster, for gangs of two."""
    offer(cluster, first=1, second=0)
    yield
    offer(cluster, first=None, second=None)


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, engine: Engine, trainer: None, devices: None) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, removed with its TrainJobs before the scheduler."""
    name = f"gang-{uuid4().hex[:6]}"
    with coscheduling.installed(cluster, engine):
        namespaces.create(cluster.kubeconfig, name)
        yield name
        namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def gangs(cluster: Cluster, engine: Engine, namespace: str) -> tuple[Run, Run]:
    """Two gangs of two pods that wait."""
    first, second = (Run(cluster, engine, namespace, name, kind=TRAINJOB) for name in ("first", "second"))
    for run in (first, second):
        run.install(settings={**SETTINGS, **GANG, "nodes": 2})
    return first, second


@pytest.fixture
def user(cluster: Cluster, namespace: str) -> User:
    """The administrator."""
    return User(cluster.kubeconfig, namespace)


def placed(run: Run, connection: Any) -> list[str]:
    """Return the nodes of the pods that have one."""
    return [pod.spec.nodeName for pod in run.pods(connection) if pod.spec.nodeName]


def test_gangs_that_do_not_fit_hold_no_device_and_say_why(
    gangs: tuple[Run, Run], user: User, cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    for run in gangs:
        user.says(run.release, f"waits for its gang: not enough {DEVICE} for all of its pods; 0 of 2 pods run")
        assert len(run.pods(connection)) == 2
        assert placed(run, connection) == []

    alone = Run(cluster, engine, namespace, "alone", kind=TRAINJOB)
    alone.install(settings={**SETTINGS, "nodes": 1})
    outcome = alone.follow()
    alone.require_success(outcome)
    assert list(outcome.nodes.values()) == [cluster.workers[0]]
    assert [placed(run, connection) for run in gangs] == [[], []]


def test_two_gangs_start_one_after_the_other_once_there_is_room_for_one(
    gangs: tuple[Run, Run], cluster: Cluster
) -> None:
    offer(cluster, first=1, second=1)
    spans = []
    for run in gangs:
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
