"""One cluster for the whole session, with the operator on it; it is removed at the end unless TRAINYARD_KEEP is set."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.cluster import api, lifecycle
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import namespace as namespaces
from tests.jobs import operator
from tests.jobs.run import Run

NAME = os.environ.get("TRAINYARD_E2E", "trainyard-e2e")


@pytest.fixture(scope="session")
def live() -> Iterator[tuple[Cluster, Engine]]:
    """The session's cluster and the engine that runs it."""
    cluster = Cluster(NAME)
    engine = lifecycle.up(cluster)
    yield cluster, engine
    if not os.environ.get("TRAINYARD_KEEP"):
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
