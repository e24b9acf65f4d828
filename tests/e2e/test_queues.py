"""The platform chart's queues with Kueue: a run waits for quota, and is placed within one topology domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kueue, platform
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.namespace import PYTORCHJOB
from tests.harness.jobs.run import Run

# Building Kueue takes three minutes.
pytestmark = pytest.mark.long

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "training"
LEVEL = "kubernetes.io/hostname"
# The quota has room for the two pods of one run.
POD = {"cpu": "400m", "memory": "1Gi"}
SHARE = {"cpu": "1", "memory": "2Gi"}
STARTED_SECONDS = 120


@pytest.fixture(scope="module")
def queues(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[Cluster]:
    """A release of the platform with queues only, for the runs of one namespace."""
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
    """Two runs that are not installed yet; uninstalled at the end, because a queue in use cannot be deleted."""
    first, second = (Run(queues, engine, namespace, name) for name in ("first", "second"))
    yield first, second
    first.uninstall()
    second.uninstall()


def install_queued(run: Run, *, epochs: int, **topology: str) -> None:
    """Install a run of two nodes that waits in the queue."""
    run.install(
        settings={
            "scheduling.queue.name": QUEUE,
            "scheduling.queue.topology": topology,
            "resources": {"limits": POD},
            # Kueue considers free capacity but not affinity: with `required` the pods would stay Pending.
            "placement.spread": "none",
            "train.args": ["--epochs", str(epochs), "--checkpoint-dir", "/checkpoints"],
            "checkpoints.keep": False,
        }
    )


def pods(connection: Any, run: Run) -> list[Any]:
    """The run's pods."""
    return list(api.objects(connection, "v1", "Pod", namespace=run.namespace, label_selector=run.selector))


def pending_reason(connection: Any, run: Run) -> str | None:
    """Return the reason why Kueue has not admitted a run; None before it has decided, and after admission."""
    owned = [
        workload
        for workload in api.objects(connection, API, "Workload", namespace=run.namespace)
        if any(owner.name == run.release for owner in workload.metadata.ownerReferences or [])
    ]
    conditions = owned[0].status.conditions if owned and owned[0].status else None
    return next(
        (str(one.message) for one in conditions or [] if one.type == "QuotaReserved" and one.status == "False"), None
    )


def test_a_run_waits_for_quota_and_then_trains_within_one_domain(runs: tuple[Run, Run], connection: Any) -> None:
    first, second = runs
    install_queued(first, epochs=1_000_000)
    api.wait_until(
        lambda: [pod.status.phase for pod in pods(connection, first)] == ["Running"] * 2,
        what="Kueue to admit the first run",
        seconds=STARTED_SECONDS,
    )
    # Kueue assigns each pod to a node, even unasked, if the flavor's topology ends in nodes.
    assert all(pod.spec.nodeSelector[LEVEL] == pod.spec.nodeName for pod in pods(connection, first))

    install_queued(second, epochs=1, mode="required", level=LEVEL)
    connection.resources.invalidate_cache()
    reason = api.wait_until(
        lambda: pending_reason(connection, second), what="Kueue's decision on the second run", seconds=STARTED_SECONDS
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


def test_uninstall_removes_the_queues(queues: Cluster, namespace: str, connection: Any) -> None:
    Helm(queues.kubeconfig).uninstall("queues", namespace=namespace)

    for kind in ("LocalQueue", "ClusterQueue", "ResourceFlavor", "Topology"):
        assert api.objects(connection, API, kind) == []
