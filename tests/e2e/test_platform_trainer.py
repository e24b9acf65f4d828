"""A site that serves TrainJobs alone: one release installs Kubeflow Trainer, and its values make runs TrainJobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kubeflow_trainer, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS, Helm, Settings
from tests.harness.jobs.namespace import TRAINJOB
from tools import demo

# Trainer's release and CRDs are those of other tests, too.
pytestmark = pytest.mark.alone

RUNTIMES = ("deepspeed-distributed", "reference-trainer", "torch-distributed")


@pytest.fixture(params=["helm", "helm4"])
def program(request: pytest.FixtureRequest) -> str:
    """Each version of Helm."""
    return str(request.param)


@pytest.fixture
def site(cluster: Cluster, engine: Engine, program: str) -> Iterator[Settings]:
    """The values of the site, on a cluster that knows neither TrainJob nor JobSet."""
    kubeflow_trainer.remove_crds(cluster)
    namespaces.create(cluster.kubeconfig, demo.NAMESPACE)
    repository, tag = loading.load(cluster, engine, "trainer").rsplit(":", 1)
    yield {
        **platform.images(cluster, engine, serves=TRAINJOB),
        "runs.image": {"repository": repository, "tag": tag},
        "runtimes.enabled": True,
        "networks.enabled": False,
        "fabric.env.GLOO_SOCKET_IFNAME": "eth0",
    }
    namespaces.delete(cluster.kubeconfig, demo.NAMESPACE)
    Helm(cluster.kubeconfig, program).uninstall(platform.RELEASE, namespace=platform.NAMESPACE)
    kubeflow_trainer.remove_crds(cluster)
    namespaces.delete(cluster.kubeconfig, platform.NAMESPACE)


def type_what_the_demo_tells(terminal: demo.Terminal) -> str:
    """Type the commands that `make demo KIND=TrainJob` leaves to the user, and return what they print."""
    (terminal.folder / "charts").symlink_to(CHARTS)
    (terminal.folder / demo.YOUR_VALUES).write_text(demo.corrected())
    return "\n".join(terminal.run(command) for command in demo.Road.TRAINJOB.yours())


def runtimes(connection: Any) -> dict[str, str]:
    """Return name and UID of each ClusterTrainingRuntime."""
    connection.resources.invalidate_cache()
    found = api.objects(connection, "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime")
    return {runtime.metadata.name: runtime.metadata.uid for runtime in found}


def test_one_release_installs_trainer_and_its_runtimes_and_the_next_one_owns_them(
    cluster: Cluster, connection: Any, program: str, site: Settings, tmp_path: Path
) -> None:
    platform.install(cluster, program=program, settings=site)
    made = runtimes(connection)
    assert sorted(made) == sorted(RUNTIMES)
    values = tmp_path / demo.RUN_VALUES
    platform.write_run_values(cluster, values)
    assert yaml.safe_load(values.read_text())["kind"] == "TrainJob"

    printed = type_what_the_demo_tells(demo.Terminal(cluster, tmp_path))
    assert "world_size=2" in printed
    assert "finished: epochs=2" in printed

    platform.install(cluster, program=program, settings=site)
    assert runtimes(connection) == made
    Helm(cluster.kubeconfig, program).uninstall(platform.RELEASE, namespace=platform.NAMESPACE)
    assert runtimes(connection) == {}
