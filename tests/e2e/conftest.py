"""One cluster with the training operator for the whole session, removed at the end unless TRAINYARD_KEEP is set.

TRAINYARD_E2E names the cluster. Worker processes of pytest-xdist share it and do not remove it: tests marked `idle` use
it after them.
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

from tests.harness.cluster import api, cache, lifecycle, tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kubeflow_trainer, operator, operator_crds
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.run import Run

# These files change which kinds the API server serves, or list all of them.
CRD_TESTS = {
    "test_admission_policies.py",
    "test_audit.py",
    "test_dry_run.py",
    "test_gangs.py",
    "test_policies.py",
    "test_python_sdk.py",
    "test_queues.py",
    "test_trainjob.py",
    "test_uninstall.py",
}
NAME = os.environ.get("TRAINYARD_E2E", "trainyard-e2e")
# Kubernetes 1.29 refuses the CRD of JobSet, as docs/compatibility.md says.
SERVES_TRAINER = tools.kubernetes() != tools.KUBERNETES["oldest"]

# For hundreds of processes of Helm, kubectl and Podman: one that ends within a second need not free memory, and the
# collection of garbage takes a quarter of its processor time. At the limit, Go collects as usual.
os.environ |= {"GOGC": "off", "GOMEMLIMIT": "512MiB"}


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """Runs the tests of a file in one process, because they share a namespace; likewise the files of `CRD_TESTS`."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return "crds" if Path(file).name in CRD_TESTS else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Return the scheduler of pytest-xdist; its built-in `loadgroup` does not group anything with pytest 9.2."""
    return ByFile(config, log)


def session_lock() -> FileLock:
    """Lock the set-up of the one cluster, which every worker process of pytest-xdist does in its own session."""
    return cache.lock(f"session-{NAME}")


@pytest.fixture(scope="session")
def live() -> Iterator[tuple[Cluster, Engine]]:
    """The session's cluster and its container engine."""
    cluster = Cluster(NAME)
    with session_lock():
        engine = lifecycle.up(cluster)
    yield cluster, engine
    # A worker process does not know if the other ones have finished.
    if not os.environ.get("TRAINYARD_KEEP") and "PYTEST_XDIST_WORKER" not in os.environ:
        lifecycle.down(cluster)


@pytest.fixture(scope="session")
def cluster(live: tuple[Cluster, Engine]) -> Cluster:
    """The session's cluster."""
    return live[0]


@pytest.fixture(scope="session")
def engine(live: tuple[Cluster, Engine]) -> Engine:
    """The container engine of the session's cluster."""
    return live[1]


@pytest.fixture(scope="session")
def connection(cluster: Cluster) -> Any:
    """A dynamic client for the session's cluster."""
    return api.connect(cluster.kubeconfig)


@pytest.fixture(scope="module")
def kube_config(cluster: Cluster) -> str:
    """The kubeconfig for the `kube_cluster` fixture of pytest-helm-charts."""
    return str(cluster.kubeconfig)


@pytest.fixture(scope="session")
def training_operator(cluster: Cluster, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The training operator, installed from our chart and Available.

    One process installs it. Helm would otherwise take back the version of MPIJob that `mpi_operator.served` added for
    tests of another process.
    """
    folder = tmp_path_factory.getbasetemp()
    installed = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "training-operator"
    with session_lock():
        if not installed.exists():
            operator.install(cluster, engine)
            installed.touch()


@pytest.fixture(scope="session")
def trainer(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Kubeflow Trainer, installed once for the files of `CRD_TESTS`, with the kind of PodGroup that it looks for."""
    if not SERVES_TRAINER:
        pytest.skip("Kubeflow Trainer requires a newer Kubernetes")
    with (
        operator_crds.served(cluster, operator_crds.files(kubeflow_trainer.CHART)),
        kubeflow_trainer.installed(cluster, engine, settings={"gangSchedulers": ["scheduler-plugins"]}),
    ):
        yield


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, training_operator: None) -> Iterator[str]:  # noqa: ARG001
    """A namespace with Pod Security `restricted`, removed with everything in it."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def fresh_namespace(cluster: Cluster, training_operator: None) -> Iterator[str]:  # noqa: ARG001
    """A namespace as `namespace` for one attempt of a test: what a failed attempt leaves would fail the next one."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def digits(cluster: Cluster, engine: Engine, namespace: str) -> Run:
    """A run that is not installed yet."""
    return Run(cluster, engine, namespace, "digits")


@pytest.fixture
def values_file(tmp_path: Path) -> Path:
    """The path of a values file, which the test writes."""
    return tmp_path / "run.yaml"


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port of 127.0.0.1 that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[str]:
    """A folder on a file system of 64 MiB; mounting it needs root, as building the node image does."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(tmp_path)], check=True)
    yield str(tmp_path)
    subprocess.run(["umount", str(tmp_path)], check=True)
