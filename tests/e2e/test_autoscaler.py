"""A HorizontalPodAutoscaler adds a pod to an elastic run while its processors are busy, and removes it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.worlds import ENDLESS, Worlds
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import metrics_server
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import CHART, Run

# An autoscaler waits for five minutes before it removes a pod, and the metrics server may have to be built.
pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(1800)]

GROW_SECONDS = 300
SHRINK_SECONDS = 600


@pytest.fixture
def _metrics(cluster: Cluster, engine: Engine) -> Iterator[None]:
    with metrics_server.installed(cluster, engine):
        yield


def at(utilization: int) -> dict[str, object]:
    """Return the metrics of an autoscaler that keeps the processors this busy, in percent of the request."""
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {
        "enabled": True,
        "minNodes": 1,
        "maxNodes": 2,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }


@pytest.mark.usefixtures("_metrics")
def test_an_autoscaler_grows_and_shrinks_an_elastic_run(digits: Run, connection: Any) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "scaled")
    # Each pod requests 100m and uses the 300m of its limit: 300 %.
    settings = {**ENDLESS, "nodes": 1}
    run.install(settings={**settings, "elastic": at(150)})
    worlds = Worlds(run)

    worlds.until(1)
    worlds.until(2, seconds=GROW_SECONDS)
    autoscaler = api.find(connection, "autoscaling/v2", "HorizontalPodAutoscaler", run.release, run.namespace)
    assert autoscaler is not None
    assert (autoscaler.spec.minReplicas, autoscaler.spec.maxReplicas) == (1, 2)

    Helm(run.cluster.kubeconfig).install(
        run.release,
        CHART,
        namespace=run.namespace,
        settings={**run.settings(), **settings, "elastic": at(1000)},
        upgrade=True,
    )
    worlds.until(1, seconds=SHRINK_SECONDS)
    run.uninstall()
