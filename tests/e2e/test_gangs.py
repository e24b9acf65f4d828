"""Gangs of TrainJobs with scheduler-plugins: all pods of a run are placed or none, and none holds a device before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import gangs
from tests.e2e.user import User
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import coscheduling
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import Run

# Where no cache has it, the scheduler is built meanwhile.
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, engine: Engine, trainer: None) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, removed with its TrainJobs before the scheduler."""
    with gangs.one_device(cluster), coscheduling.installed(cluster, engine), gangs.namespace(cluster) as name:
        yield name


@pytest.fixture(scope="module")
def runs(cluster: Cluster, engine: Engine, namespace: str) -> list[Run]:
    """Two gangs of two pods that wait."""
    return gangs.install(cluster, engine, namespace, TRAINJOB, "scheduler-plugins")


def test_gangs_that_do_not_fit_hold_no_device_and_say_why(
    runs: list[Run], cluster: Cluster, namespace: str, connection: Any
) -> None:
    gangs.require_waiting(runs, User(cluster.kubeconfig, namespace), connection)
    assert [len(run.pods(connection)) for run in runs] == [2, 2]
    gangs.require_free(runs, connection)


def test_two_gangs_start_one_after_the_other_once_there_is_room_for_one(runs: list[Run], cluster: Cluster) -> None:
    gangs.require_one_after_the_other(runs, cluster)
