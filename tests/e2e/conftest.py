"""One cluster for the whole session, with the operator on it; it is removed at the end unless TRAINYARD_KEEP is set.

Processes of pytest-xdist share the cluster, and leave it for the tests that need it alone.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from filelock import FileLock
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.cluster import api, cache, lifecycle
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import namespace as namespaces
from tests.jobs import operator
from tests.jobs.run import Run

# They change what kinds the API server knows, or ask for all of them.
DEFINITIONS = {"test_audit.py", "test_dry_run.py", "test_policies.py", "test_trainjob.py", "test_uninstall.py"}
NAME = os.environ.get("TRAINYARD_E2E", "trainyard-e2e")


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """The tests of a file run in one process, because they share a namespace, and so do the files of `DEFINITIONS`."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return "definitions" if Path(file).name in DEFINITIONS else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """How pytest-xdist hands out the tests; of its own ways, `loadgroup` groups nothing with pytest 9.2."""
    return ByFile(config, log)


def turn() -> FileLock:
    """A turn at what all processes of pytest-xdist set up, each in a session of its own, on the one cluster."""
    return cache.lock(f"session-{NAME}")


@pytest.fixture(scope="session")
def live() -> Iterator[tuple[Cluster, Engine]]:
    """The session's cluster and the engine that runs it."""
    cluster = Cluster(NAME)
    with turn():
        engine = lifecycle.up(cluster)
    yield cluster, engine
    # One of several processes cannot know whether the others are done.
    if not os.environ.get("TRAINYARD_KEEP") and "PYTEST_XDIST_WORKER" not in os.environ:
        lifecycle.down(cluster)


@pytest.fixture(scope="session")
def cluster(live: tuple[Cluster, Engine]) -> Cluster:
    """The session's cluster."""
    return live[0]


@pytest.fixture(scope="session")
def engine(live: tuple[Cluster, Engine]) -> Engine:
    """The container engine under the session's cluster."""
    return live[1]


@pytest.fixture(scope="session")
def connection(cluster: Cluster) -> Any:
    """A dynamic client for the session's cluster."""
    return api.connect(cluster.kubeconfig)


@pytest.fixture(scope="module")
def kube_config(cluster: Cluster) -> str:
    """Kubeconfig that pytest-helm-charts' `kube_cluster` connects with."""
    return str(cluster.kubeconfig)


@pytest.fixture(scope="session")
def training_operator(cluster: Cluster, engine: Engine) -> None:
    """The training operator, installed from our chart and Available."""
    with turn():
        operator.install(cluster, engine)


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, training_operator: None) -> Iterator[str]:  # noqa: ARG001
    """A namespace with Pod Security `restricted`, removed with all that is in it."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def digits(cluster: Cluster, engine: Engine, namespace: str) -> Run:
    """A run that nothing has installed yet."""
    return Run(cluster, engine, namespace, "digits")


@pytest.fixture
def values_file(tmp_path: Path) -> Path:
    """Path of a values file for a test to write."""
    return tmp_path / "run.yaml"


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port of 127.0.0.1 that something listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[str]:
    """A folder on a file system of 64 MiB; mounting it needs root, as building the nodes does."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(tmp_path)], check=True)
    yield str(tmp_path)
    subprocess.run(["umount", str(tmp_path)], check=True)
