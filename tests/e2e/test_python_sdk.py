"""Kubeflow's Python SDK with the runtimes of charts/training-runtimes and with runs of charts/training-job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import kubeflow_trainer, sdk
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import Run
from tests.harness.jobs.sdk import Sdk

EXAMPLE = Path(__file__).parents[2] / "docs" / "trainjob" / "digits.py"
# What a program of the SDK begins with; `client` uses the namespace in the program's first argument.
CLIENT = """
import sys
from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import CustomTrainer, TrainerClient
client = TrainerClient(KubernetesBackendConfig(namespace=sys.argv[1]))
"""


@pytest.fixture(scope="module")
def client(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """The SDK."""
    return sdk.install(tmp_path_factory.mktemp("sdk"), cluster.kubeconfig)


@pytest.fixture(scope="module")
def runtimes(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Trainer with the runtimes of our chart, which are removed before it."""
    repository, tag = loading.load(cluster, engine, "trainer").rsplit(":", 1)
    settings = {
        "image.repository": repository,
        "image.tag": tag,
        "resources.requests": {"cpu": "100m"},
        "maxRestarts": 0,
    }
    helm = Helm(cluster.kubeconfig)
    with kubeflow_trainer.installed(cluster, engine):
        helm.install("runtimes", "training-runtimes", namespace="default", settings=settings)
        yield
        helm.uninstall("runtimes", namespace="default")


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, runtimes: None) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, removed before the runtimes, which are in use until then."""
    name = f"sdk-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


def test_a_function_trains_on_two_nodes(client: Sdk, cluster: Cluster, namespace: str) -> None:
    printed = client.run(EXAMPLE, namespace)

    assert re.findall(r"^runtime: (\S+) framework=(\S+)$", printed, re.MULTILINE) == [
        ("deepspeed-distributed", "deepspeed"),
        ("reference-trainer", "torch"),
        ("torch-distributed", "torch"),
    ]
    losses = re.findall(r"^epoch=\d/3 ranks=2 loss=([\d.]+)$", printed, re.MULTILINE)
    assert len(losses) == 3
    assert float(losses[0]) > float(losses[2])
    assert printed.endswith("Complete: nodes=2 steps=['node-0', 'node-1']\n") or "'node-1', 'node-0'" in printed
    api.wait_until(
        lambda: not namespaces.leftovers(cluster.kubeconfig, namespace, "", TRAINJOB),
        what="the objects of the TrainJob to be gone",
        seconds=60,
    )
