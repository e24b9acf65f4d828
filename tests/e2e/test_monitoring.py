"""Prometheus scrapes a run and its operator through our monitors, fires alerts, and has data for the dashboards.

Its alerts go through Alertmanager, with the routes of the guide, to a receiver.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser

from tests.documentation import examples
from tests.harness.browser import chromium
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.grafana import answers
from tests.harness.grafana.drawing import drawn
from tests.harness.jobs import alertmanager, dashboards, operator, operator_crds, prometheus, promql
from tests.harness.jobs.alertmanager import Alertmanager
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.prometheus import API, Prometheus
from tests.harness.jobs.run import Run

# The operator is scaled down for a while.
pytestmark = pytest.mark.alone

CHART = RELEASE = "training-monitoring"
OURS = f"app.kubernetes.io/instance={RELEASE}"
RUNBOOKS = "https://wiki.example.com/training"
SETTINGS: dict[str, object] = {
    "monitors.interval": "2s",
    "alerts.operatorDown.for": "4s",
    "alerts.webhookFailing.for": "0s",
    "alerts.runbookUrl": RUNBOOKS,
    "alerts.alertLabels": {"team": "platform"},
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
    arguments = ["--epochs", 1_000_000, "--checkpoint-dir", "/checkpoints", "--metrics-port", port]
    # Without the peak of the devices there is no MFU, and without the log of events no effective training time ratio.
    arguments += ["--peak-tflops", 1, "--events-file", "/checkpoints/events.jsonl"]
    run.install(
        settings={
            "train.args": arguments,
            "metrics.enabled": True,
            "metrics.port": port,
            "metrics.monitor": "ServiceMonitor",
            "metrics.interval": "2s",
            # These tests take minutes, in which the run would compute as fast as both cores can.
            "resources.limits.cpu": "250m",
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
def routed(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[Alertmanager]:
    """Alertmanager with the routes of the guide."""
    shown = examples.files_of("docs/how-to/monitoring.md")["alertmanager.yaml"]
    with alertmanager.running(cluster, engine, namespace, yaml.safe_load(shown)) as server:
        yield server


@pytest.fixture(scope="module")
def server(
    cluster: Cluster, engine: Engine, namespace: str, release: Helm, run: Run, routed: Alertmanager
) -> Iterator[Prometheus]:
    """Prometheus, configured from every monitor and rule on the cluster."""
    with prometheus.running(cluster, engine, namespace, [routed.address]) as server:
        yield server


@pytest.fixture(scope="module")
def shown(release: Helm, connection: Any, namespace: str) -> list[dict[str, Any]]:
    """The dashboards that Grafana's sidecar would find."""
    label = f"{OURS},grafana_dashboard=1"
    found = api.objects(connection, "v1", "ConfigMap", namespace=namespace, label_selector=label)
    contents = [dashboards.contents(one.to_dict()) for one in found]
    assert {one["title"] for one in contents} == {"Training run", "Training fleet"}
    return contents


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser in which the dashboards are drawn."""
    with chromium() as started:
        yield started


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


def red_alerts(server: Prometheus, shown: list[dict[str, Any]], browser: Browser) -> set[str]:
    """Return the names of the alerts that the dashboard of all runs shows in red."""
    (fleet,) = (one for one in shown if one["title"] == "Training fleet")
    alerts = [panel for panel in answers.panels(fleet) if panel["title"] == "Alerts"]
    now = time.time()
    answered = answers.ask(server, alerts, start=now, end=now, step=1)
    with drawn(browser, {**fleet, "panels": alerts}, answered, start=now, end=now) as drawing:
        (panel,) = drawing.panels().values()
    return {value.name for value in panel.values if value.color == "red"}


def test_the_operator_is_scraped_through_its_own_monitor(server: Prometheus) -> None:
    found = api.wait_until(
        lambda: server.query('controller_runtime_max_concurrent_reconciles{controller="pytorchjob-controller"}'),
        what="the operator to be scraped",
        seconds=30,
    )

    assert {series["metric"]["job"] for series in found} == {operator.RELEASE}


def test_alerts_reach_their_receiver_when_the_operator_is_down_and_its_webhook_fails(
    server: Prometheus, routed: Alertmanager, cluster: Cluster, shown: list[dict[str, Any]], browser: Browser
) -> None:
    def refused() -> bool:
        try:
            api.kubectl(cluster.kubeconfig, "apply", "--dry-run=server", "-f", "-", stdin=JOB)
        except ClusterError as error:
            return "failed calling webhook" in str(error)
        return False

    def told() -> bool:
        refused()
        return {"TrainingOperatorDown", "TrainingWebhookFailing"} <= server.firing()

    def notified() -> dict[str, Any] | None:
        refused()
        found = routed.alerts("on-call", "firing")
        return found if {"TrainingOperatorDown", "TrainingWebhookFailing"} <= found.keys() else None

    # Before its first scrape Prometheus had no data of the operator either.
    api.wait_until(lambda: not server.firing(), what="no alert to fire", seconds=120)
    scale = ("-n", operator.NAMESPACE, "scale", "deployment", operator.RELEASE)
    api.kubectl(cluster.kubeconfig, *scale, "--replicas=0")
    try:
        api.wait_until(refused, what="the webhook to be gone", seconds=30)
        # Prometheus has been seen to scrape a pod for a minute after its termination began.
        api.wait_until(told, what="alerts of the operator and of its webhook", seconds=150)
        sent = api.wait_until(notified, what="the receiver of critical alerts to be notified", seconds=30)
        down = sent["TrainingOperatorDown"]
        assert down["annotations"]["runbook_url"] == f"{RUNBOOKS}#trainingoperatordown"
        assert down["labels"].items() >= {"severity": "critical", "team": "platform"}.items()
        assert {"TrainingOperatorDown", "TrainingWebhookFailing"} <= red_alerts(server, shown, browser)
    finally:
        api.kubectl(cluster.kubeconfig, *scale, "--replicas=1")
        operator.wait_available(cluster)
    api.wait_until(
        lambda: "TrainingOperatorDown" not in server.firing(), what="the operator's alert to end", seconds=180
    )
    # Prometheus repeats an alert that has ended, and Alertmanager tells once.
    api.wait_until(
        lambda: "TrainingOperatorDown" in routed.alerts("on-call", "resolved"),
        what="the receiver to be told that the operator is back",
        seconds=60,
    )


def test_the_dashboards_find_the_namespace_and_the_run(
    server: Prometheus, beginning: float, run: Run, shown: list[dict[str, Any]]
) -> None:
    variables = [query for one in shown for query in dashboards.queries(one) if query.panel.startswith("$")]

    assert [query.panel for query in variables] == ["$namespace", "$run"]
    for query in variables:
        assert server.query(promql.substitute_variables(query.expression, namespace=run.namespace))


def test_the_drawn_dashboards_have_data_of_every_exporter_on_this_cluster(
    server: Prometheus, beginning: float, run: Run, shown: list[dict[str, Any]], browser: Browser
) -> None:
    """`published/test_published.py` draws them with kube-state-metrics, which takes a minute to build."""
    for dashboard in shown:
        # Kubelets collect container metrics every ten seconds or so, and a rate needs two samples.
        answered = answers.gathered(
            server,
            dashboard,
            prometheus.EXPORTERS,
            start=beginning,
            seconds=60,
            namespace=run.namespace,
            run=run.release,
        )
        drawable = {**dashboard, "panels": [one for one in answers.panels(dashboard) if one["id"] in answered]}
        with drawn(browser, drawable, answered, start=beginning, end=time.time()) as drawing:
            panels = drawing.panels()
            assert len(panels) == len(answered)
            assert {title for title, panel in panels.items() if panel.is_empty} == set()
            assert drawing.faults == []


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
