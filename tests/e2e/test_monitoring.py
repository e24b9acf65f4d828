"""Prometheus scrapes a run and its operator through our monitors, fires alerts, and has data for the dashboards."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import dashboards, monitors, operator, operator_crds, prometheus, promql
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.prometheus import Prometheus
from tests.harness.jobs.run import Run

# The operator is scaled down for a while.
pytestmark = pytest.mark.alone

CHART = RELEASE = "training-monitoring"
API = "monitoring.coreos.com/v1"
OURS = f"app.kubernetes.io/instance={RELEASE}"
# Exporters on this cluster. It has no GPU and no InfiniBand, and no kube-state-metrics.
EXPORTERS = {
    "cadvisor",
    "controller-runtime",
    "kube-apiserver",
    "prometheus",
    "python-client",
    "trainer",
    "training-operator",
}
SETTINGS: dict[str, object] = {
    "monitors.interval": "2s",
    "alerts.operatorDown.for": "4s",
    "alerts.webhookFailing.for": "0s",
}
JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: refused, namespace: default}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: none}]}}
"""


@pytest.fixture(scope="module")
def served(cluster: Cluster, engine: Engine, training_operator: None, connection: Any) -> Iterator[None]:
    """The Prometheus operator's API, and with it the ServiceMonitor of the training operator's chart."""
    with operator_crds.served(cluster, operator_crds.files("monitoring")):
        connection.resources.invalidate_cache()
        operator.install(cluster, engine)
        yield
        # Helm cannot change a release any more that has an object of a removed kind.
        operator.install(cluster, engine, settings={"serviceMonitor.enabled": False})
    connection.resources.invalidate_cache()


@pytest.fixture(scope="module")
def run(served: None, digits: Run) -> Iterator[Run]:
    """A run that trains for as long as these tests take, and that has its own monitor."""
    run = Run(digits.cluster, digits.engine, digits.namespace, "observed")
    port = 8000
    # Without the peak of the devices there is no MFU.
    arguments = ["--epochs", 1_000_000, "--checkpoint-dir", "/checkpoints", "--metrics-port", port, "--peak-tflops", 1]
    run.install(
        settings={
            "train.args": arguments,
            "metrics.enabled": True,
            "metrics.port": port,
            "metrics.monitor": "ServiceMonitor",
            "metrics.interval": "2s",
            # These tests take minutes, in which the run would compute as fast as both cores can.
            "resources.limits.cpu": "400m",
        }
    )
    yield run
    run.uninstall()


@pytest.fixture(scope="module")
def release(served: None, cluster: Cluster, namespace: str) -> Iterator[Helm]:
    """The installed chart."""
    helm = Helm(cluster.kubeconfig)
    helm.install(RELEASE, CHART, namespace=namespace, settings=SETTINGS)
    yield helm
    helm.uninstall(RELEASE, namespace=namespace)


@pytest.fixture(scope="module")
def server(
    cluster: Cluster, engine: Engine, namespace: str, connection: Any, release: Helm, run: Run
) -> Iterator[Prometheus]:
    """Prometheus, configured from every monitor and rule on the cluster."""
    found = [one.to_dict() for kind in monitors.ENDPOINTS for one in api.objects(connection, API, kind)]
    rules = [one.to_dict()["spec"]["groups"] for one in api.objects(connection, API, "PrometheusRule")]
    with prometheus.running(cluster, engine, namespace, found, itertools.chain(*rules)) as server:
        yield server


@pytest.fixture(scope="module")
def beginning(server: Prometheus) -> float:
    """The time at which Prometheus started."""
    return time.time()


def pods(server: Prometheus, expression: str) -> set[tuple[str, str]]:
    """Return job and pod of each series of an expression."""
    return {(series["metric"]["job"], series["metric"]["pod"]) for series in server.query(expression)}


def test_each_pod_of_a_run_is_scraped_through_our_monitor_and_its_own(
    server: Prometheus, beginning: float, run: Run, namespace: str
) -> None:
    jobs = {f"{namespace}/{RELEASE}-runs", f"{run.release}-metrics"}
    expected = {(job, f"{run.release}-{role}-0") for job in jobs for role in ("master", "worker")}

    api.wait_until(
        lambda: pods(server, f'trainer_epoch{{run="{run.release}", namespace="{namespace}"}} > 0') == expected,
        what=f"{run.release} to be scraped while it trains",
        seconds=90,
    )

    by_role = server.query(f'count by (training_kubeflow_org_replica_type) (up{{run="{run.release}"}})')
    assert {series["metric"]["training_kubeflow_org_replica_type"] for series in by_role} == {"master", "worker"}


def test_the_operator_is_scraped_through_its_own_monitor(server: Prometheus) -> None:
    found = api.wait_until(
        lambda: server.query('controller_runtime_max_concurrent_reconciles{controller="pytorchjob-controller"}'),
        what="the operator to be scraped",
        seconds=30,
    )

    assert {series["metric"]["job"] for series in found} == {operator.RELEASE}


def test_alerts_fire_when_the_operator_is_down_and_its_webhook_fails(server: Prometheus, cluster: Cluster) -> None:
    def refused() -> bool:
        try:
            api.kubectl(cluster.kubeconfig, "apply", "--dry-run=server", "-f", "-", stdin=JOB)
        except ClusterError as error:
            return "failed calling webhook" in str(error)
        return False

    def told() -> bool:
        refused()
        return {"TrainingOperatorDown", "TrainingWebhookFailing"} <= server.firing()

    # Before its first scrape Prometheus had no data of the operator either.
    api.wait_until(lambda: not server.firing(), what="no alert to fire", seconds=30)
    scale = ("-n", operator.NAMESPACE, "scale", "deployment", operator.RELEASE)
    api.kubectl(cluster.kubeconfig, *scale, "--replicas=0")
    try:
        api.wait_until(refused, what="the webhook to be gone", seconds=30)
        # Prometheus has been seen to scrape a pod for a minute after its termination began.
        api.wait_until(told, what="alerts of the operator and of its webhook", seconds=150)
    finally:
        api.kubectl(cluster.kubeconfig, *scale, "--replicas=1")
        operator.wait_available(cluster)
    api.wait_until(
        lambda: "TrainingOperatorDown" not in server.firing(), what="the operator's alert to end", seconds=60
    )


def test_every_dashboard_query_on_this_cluster_s_exporters_has_data(
    server: Prometheus, beginning: float, run: Run, connection: Any, namespace: str
) -> None:
    found = api.objects(
        connection, "v1", "ConfigMap", namespace=namespace, label_selector=f"{OURS},grafana_dashboard=1"
    )
    queries = [query for one in found for query in dashboards.queries(dashboards.contents(one.to_dict()))]
    asked = [
        query for query in queries if all(who & EXPORTERS for who in promql.exporters_of(query.expression).values())
    ]
    assert {query.dashboard for query in asked} == {"Training run", "Training fleet"}

    missing = list(asked)

    def answered() -> bool:
        now = time.time()
        missing[:] = [
            query
            for query in missing
            if not server.query_range(
                promql.substitute_variables(query.expression, namespace=namespace, run=run.release),
                start=beginning,
                end=now,
                step=2,
            )
        ]
        return not missing

    with suppress(ClusterError):
        # Kubelets collect container metrics every ten seconds or so, and a rate needs two samples.
        api.wait_until(answered, what="data for every query", seconds=60)
    assert list(map(str, missing)) == []


def test_a_release_is_upgraded_rolled_back_and_uninstalled(
    release: Helm, server: Prometheus, connection: Any, namespace: str
) -> None:
    def ours(kind: str, version: str = API) -> list[Any]:
        return api.objects(connection, version, kind, namespace=namespace, label_selector=OURS)

    def alerts() -> set[str]:
        (rule,) = ours("PrometheusRule")
        return {one.alert for one in rule.spec.groups[0].rules}

    before = alerts()
    settings = {**SETTINGS, "alerts.xid.enabled": False, "monitors.dcgm.enabled": False}
    release.install(RELEASE, CHART, namespace=namespace, settings=settings, upgrade=True)
    assert alerts() == before - {"TrainingGpuXid"}
    assert ours("ServiceMonitor") == []

    release.run("rollback", RELEASE, "1", "--namespace", namespace)
    assert alerts() == before
    assert len(ours("ServiceMonitor")) == 1

    release.uninstall(RELEASE, namespace=namespace)
    assert [*ours("PodMonitor"), *ours("ServiceMonitor"), *ours("PrometheusRule"), *ours("ConfigMap", "v1")] == []
