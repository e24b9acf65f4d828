"""A site that serves TrainJobs alone: one release installs Kubeflow Trainer, and its values make runs TrainJobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kubeflow_trainer, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.namespace import TRAINJOB
from tests.harness.jobs.run import Run

# Trainer's release and CRDs are those of other tests, too.
pytestmark = pytest.mark.alone

NAMESPACE = "trainjob-site"
RUNTIMES = ("deepspeed-distributed", "reference-trainer", "torch-distributed")


@pytest.fixture(params=["helm", "helm4"])
def program(request: pytest.FixtureRequest) -> str:
    """Each version of Helm."""
    return str(request.param)


@pytest.fixture
def site(cluster: Cluster, engine: Engine, program: str) -> Iterator[Settings]:
    """The values of the site, on a cluster that knows neither TrainJob nor JobSet."""
    kubeflow_trainer.remove_crds(cluster)
    namespaces.create(cluster.kubeconfig, NAMESPACE)
    images = kubeflow_trainer.images(cluster, engine)
    yield {
        **{f"trainer.{name}": value for name, value in images.items()},
        "trainer.enabled": True,
        "operator.enabled": False,
        "networks.enabled": False,
        "fabric.env.GLOO_SOCKET_IFNAME": "eth0",
    }
    namespaces.delete(cluster.kubeconfig, NAMESPACE)
    Helm(cluster.kubeconfig, program).uninstall(platform.RELEASE, namespace=platform.NAMESPACE)
    kubeflow_trainer.remove_crds(cluster)
    namespaces.delete(cluster.kubeconfig, platform.NAMESPACE)


def test_one_release_serves_trainjobs_and_the_next_one_their_runtimes(
    cluster: Cluster, engine: Engine, connection: Any, program: str, site: Settings, tmp_path: Path
) -> None:
    platform.install(cluster, program=program, settings=site)
    values = tmp_path / "run.yaml"
    platform.write_run_values(cluster, values)
    assert yaml.safe_load(values.read_text())["kind"] == "TrainJob"

    run = Run(cluster, engine, NAMESPACE, "digits", program=program, kind=TRAINJOB)
    arguments = ["--epochs", "1", "--checkpoint-dir", "/checkpoints"]
    run.install(settings={"nodes": 2, "train.args": arguments}, values=[values])
    run.require_success(run.follow())

    platform.install(cluster, program=program, settings={**site, "runtimes.enabled": True})
    connection.resources.invalidate_cache()
    found = api.objects(connection, "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    assert sorted(runtime.metadata.name for runtime in found) == sorted(RUNTIMES)
