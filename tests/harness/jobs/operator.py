"""The training operator, installed by our chart with the image that the harness builds."""

from __future__ import annotations

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.helm import Helm, Settings

RELEASE = NAMESPACE = CHART = "training-operator"
# The webhook's certificate is created after the start and reaches the pod with the kubelet's next sync.
READY_SECONDS = 180


def images(cluster: Cluster, engine: Engine) -> Settings:
    """Load the operator's images and return the values that name them."""
    repository, tag = loading.load(cluster, engine, "operator").rsplit(":", 1)
    # The init container of a worker, which waits for the master. The trainer's image is on the nodes anyway.
    return {
        "image.repository": repository,
        "image.tag": tag,
        "initContainer.image": loading.load(cluster, engine, "trainer"),
        "mpi.kubectlDeliveryImage": loading.load(cluster, engine, "kubectl-delivery"),
    }


def install(cluster: Cluster, engine: Engine, *, program: str = "helm", settings: Settings | None = None) -> None:
    """Install or upgrade the operator, and wait until it is Available and its webhook answers."""
    Helm(cluster.kubeconfig, program).install(
        RELEASE,
        CHART,
        namespace=NAMESPACE,
        settings={**images(cluster, engine), **(settings or {})},
        options=["--create-namespace"],
        upgrade=True,
    )
    wait_available(cluster)


def wait_available(cluster: Cluster) -> None:
    """Wait until the Deployment is Available; its readiness includes the webhook's certificate."""
    connection = api.connect(cluster.kubeconfig)
    api.wait_until(
        lambda: api.deployment_available(connection, NAMESPACE, RELEASE),
        what="the training operator to be Available",
        seconds=READY_SECONDS,
    )
