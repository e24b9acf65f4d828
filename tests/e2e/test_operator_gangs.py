"""Gangs of PyTorchJobs with scheduler-plugins: the training operator creates their PodGroups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import gangs
from tests.e2e.user import User
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import coscheduling, kubeflow_trainer, operator_crds
from tests.harness.jobs.namespace import PYTORCHJOB
from tests.harness.jobs.run import Run

# The operator sends the pods of all jobs to the scheduler, which is built meanwhile where no cache has it.
pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, removed with its runs before the scheduler."""
    with (
        gangs.one_device(cluster),
        operator_crds.served(cluster, operator_crds.files(kubeflow_trainer.CHART)),
        coscheduling.installed(cluster, engine),
        gangs.of_operator(cluster, engine, "scheduler-plugins-scheduler"),
        gangs.namespace(cluster) as name,
    ):
        yield name


@pytest.fixture(scope="module")
def runs(cluster: Cluster, engine: Engine, namespace: str) -> list[Run]:
    """Two gangs of two pods that wait."""
    return gangs.install(cluster, engine, namespace, PYTORCHJOB, "scheduler-plugins")


def test_gangs_that_do_not_fit_hold_no_device_and_say_why(
    runs: list[Run], cluster: Cluster, namespace: str, connection: Any, tmp_path: Path
) -> None:
    gangs.require_waiting(runs, User(cluster.kubeconfig, namespace), connection)
    gangs.require_diagnosed(runs, tmp_path)
    gangs.require_free(runs, connection)


def test_two_gangs_start_one_after_the_other_once_there_is_room_for_one(runs: list[Run], cluster: Cluster) -> None:
    gangs.require_one_after_the_other(runs, cluster)
