"""Queues of the platform chart, with Kueue: a run waits for its share of the cluster, and stays within a domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import api
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import kueue, platform
from tests.jobs.helm import Helm
from tests.jobs.namespace import PYTORCHJOB
from tests.jobs.run import Run

# Kueue alone takes three minutes to build.
pytestmark = pytest.mark.long

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "training"
LEVEL = "kubernetes.io/hostname"
# Two pods of one run, and no more.
POD = {"cpu": "400m", "memory": "1Gi"}
SHARE = {"cpu": "1", "memory": "2Gi"}
STARTED_SECONDS = 120


@pytest.fixture(scope="module")
def queues(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[Cluster]:
    """A release of the platform that has queues alone, for the runs of one namespace."""
    flavor = {"name": "workers", "nodeLabels": {"kubernetes.io/os": "linux"}}
    quota = {"flavor": flavor["name"], "resources": SHARE}
    helm = Helm(cluster.kubeconfig)
    with kueue.installed(cluster, engine):
        helm.install(
            "queues",
            platform.CHART,
            namespace=namespace,
            settings={
                "operator.enabled": False,
                "queues.enabled": True,
                "queues.name": QUEUE,
                "queues.topologyLevels": [LEVEL],
                "queues.flavors": [flavor],
                "queues.clusterQueues": [{"name": "vision", "namespaces": [namespace], "quotas": [quota]}],
            },
        )
        yield cluster
        helm.uninstall("queues", namespace=namespace)


@pytest.fixture
def runs(queues: Cluster, engine: Engine, namespace: str) -> Iterator[tuple[Run, Run]]:
    """Two runs that nothing has installed yet, and that are gone afterwards: a queue waits for those in it."""
    first, second = (Run(queues, engine, namespace, name) for name in ("first", "second"))
    yield first, second
    first.uninstall()
    second.uninstall()


def queued(run: Run, *, epochs: int, **topology: str) -> None:
    """Install a run of two nodes that waits in the queue."""
    run.install(
        settings={
            "scheduling.queue.name": QUEUE,
            "scheduling.queue.topology": topology,
            "resources": {"limits": POD},
            # Kueue looks at the room on nodes and not at affinity, and would hold `required` Pending.
            "placement.spread": "none",
            "train.args": ["--epochs", str(epochs), "--checkpoint-dir", "/checkpoints"],
            "checkpoints.keep": False,
        }
    )


def pods(connection: Any, run: Run) -> list[Any]:
    """The run's pods."""
    return list(api.objects(connection, "v1", "Pod", namespace=run.namespace, label_selector=run.selector))


def waits_for(connection: Any, run: Run) -> str | None:
    """Why Kueue does not start a run; none before it has looked at it, and when it has started it."""
    owned = [
        workload
        for workload in api.objects(connection, API, "Workload", namespace=run.namespace)
        if any(owner.name == run.release for owner in workload.metadata.ownerReferences or [])
    ]
    conditions = owned[0].status.conditions if owned and owned[0].status else None
    return next(
        (str(one.message) for one in conditions or [] if one.type == "QuotaReserved" and one.status == "False"), None
    )


def test_a_run_waits_for_its_quota_and_then_trains_within_one_domain(runs: tuple[Run, Run], connection: Any) -> None:
    first, second = runs
    queued(first, epochs=1_000_000)
    api.wait_until(
        lambda: [pod.status.phase for pod in pods(connection, first)] == ["Running"] * 2,
        what="Kueue to let the first run start",
        seconds=STARTED_SECONDS,
    )
    # Without being asked to, Kueue says where each pod goes, if its flavour has a topology of nodes.
    assert all(pod.spec.nodeSelector[LEVEL] == pod.spec.nodeName for pod in pods(connection, first))

    queued(second, epochs=1, mode="required", level=LEVEL)
    connection.resources.invalidate_cache()
    reason = api.wait_until(
        lambda: waits_for(connection, second), what="Kueue to look at the second run", seconds=STARTED_SECONDS
    )
    assert "insufficient unused quota" in reason
    job = api.find(connection, *PYTORCHJOB, second.release, second.namespace)
    assert job is not None
    assert job.spec.runPolicy.suspend
    assert pods(connection, second) == []

    first.uninstall()
    outcome = second.follow()
    second.require_success(outcome)
    assert len(outcome.nodes) == 2
    assert len(set(outcome.nodes.values())) == 1


def test_uninstalled_the_queues_are_gone(queues: Cluster, namespace: str, connection: Any) -> None:
    Helm(queues.kubeconfig).uninstall("queues", namespace=namespace)

    for kind in ("LocalQueue", "ClusterQueue", "ResourceFlavor", "Topology"):
        assert api.objects(connection, API, kind) == []
