"""Upgrades of each chart from the last release, alone: what it installed stays, and works with the chart of today.

`test_upgrade.py` upgrades runs, and `test_platform.py` a platform.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness import released
from tests.harness.cluster import api, loading, rails
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import all_reduce, kubeflow_trainer, networks, operator, operator_crds, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS, Helm, Settings
from tests.harness.jobs.preflight import JOB, Preflight
from tests.harness.jobs.run import Run

# The operator, Trainer, networks and kinds of other tests are replaced.
pytestmark = [pytest.mark.alone, pytest.mark.long]

TRAINJOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: older}
spec:
  runtimeRef: {name: torch-distributed}
  suspend: true
  trainer:
    numNodes: 2
    command: [torchrun, --no-python]
    args: [python3, -c, "from torch import distributed as dist; dist.init_process_group('gloo'); dist.barrier()"]
"""


@dataclass(frozen=True)
class Release:
    """A release with the name of its chart."""

    helm: Helm
    chart: str
    namespace: str
    settings: Settings
    values: Sequence[Path] = ()

    def install(self, chart: str | Path) -> None:
        """Install or upgrade the release, and wait until its pods are ready."""
        self.helm.install(
            self.chart,
            str(chart),
            namespace=self.namespace,
            settings=self.settings,
            values=self.values,
            options=("--create-namespace", "--wait", "--timeout=3m"),
            upgrade=True,
        )

    def upgrade(self) -> None:
        """Upgrade it to the chart of today, which must keep the objects that both versions have."""
        before = self.objects()
        self.install(self.chart)
        after = self.objects()

        kept = before.keys() & after.keys()
        assert kept
        assert [name for name in kept if before[name] != after[name]] == []

    def objects(self) -> Mapping[str, str]:
        """Return kind and name of each object of the release, with its UID."""
        manifest = self.helm.run("get", "manifest", self.chart, "--namespace", self.namespace)
        command = ("get", "--namespace", self.namespace, "--filename=-", "--output=json")
        found = json.loads(api.kubectl(self.helm.kubeconfig, *command, stdin=manifest))
        listed = found["items"] if found["kind"] == "List" else [found]
        return {f"{one['kind']}/{one['metadata']['name']}": one["metadata"]["uid"] for one in listed}

    def uninstall(self) -> None:
        """Remove the release."""
        self.helm.uninstall(self.chart, namespace=self.namespace)


@pytest.fixture
def helm(cluster: Cluster) -> Helm:
    """Helm 3."""
    return Helm(cluster.kubeconfig)


@pytest.fixture
def bare(cluster: Cluster, engine: Engine, fresh_namespace: str) -> Iterator[str]:
    """A namespace of a cluster without an operator and its kinds."""
    with platform.bare(cluster, engine):
        yield fresh_namespace
        namespaces.delete(cluster.kubeconfig, operator.NAMESPACE)


def uids(run: Run, connection: Any) -> dict[str, str]:
    """Return the phases of a run's pods by UID."""
    return {pod.metadata.uid: pod.status.phase for pod in run.pods(connection)}


def test_the_operator_keeps_its_certificate_and_the_pods_of_a_run_and_goes_on_to_restart_them(
    cluster: Cluster, engine: Engine, helm: Helm, bare: str, connection: Any, tmp_path: Path
) -> None:
    def certificate() -> Mapping[str, str]:
        secret = api.find(connection, "v1", "Secret", f"{operator.RELEASE}-webhook-cert", operator.NAMESPACE)
        return dict(secret.data) if secret else {}

    def replaced() -> dict[str, str] | None:
        found = uids(run, connection)
        return found if found.keys() != before.keys() and sorted(found.values()) == running else None

    release = Release(helm, operator.CHART, operator.NAMESPACE, operator.images(cluster, engine))
    release.install(released.part(release.chart, tmp_path))
    run = Run(cluster, engine, bare, "older")
    sleeping = {"launcher": "command", "train.command": ["sleep", "9999"], "train.args": []}
    run.install(settings={**sleeping, "checkpoints.enabled": False, "terminationGracePeriodSeconds": 1})
    running = ["Running", "Running"]
    api.wait_until(lambda: sorted(uids(run, connection).values()) == running, what="both pods to run", seconds=120)
    before, kept = uids(run, connection), certificate()
    assert set(kept) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}

    release.upgrade()
    operator.wait_available(cluster)
    assert uids(run, connection) == before
    assert certificate() == kept

    api.kubectl(cluster.kubeconfig, "delete", "pod", f"{run.release}-worker-0", "--namespace", bare, "--now")
    again = api.wait_until(replaced, what="the worker to run again", seconds=60)
    assert len(again.keys() & before.keys()) == 1
    run.uninstall()
    release.uninstall()


def test_a_trainjob_of_an_older_trainer_and_runtime_runs_with_the_newer_ones(
    cluster: Cluster, engine: Engine, helm: Helm, fresh_namespace: str, tmp_path: Path
) -> None:
    image = dict(zip(("repository", "tag"), loading.load(cluster, engine, "trainer").rsplit(":", 1), strict=True))
    of_runtimes = {"image": image, "resources.requests": {"cpu": "100m"}}
    releases = [
        Release(helm, kubeflow_trainer.CHART, kubeflow_trainer.NAMESPACE, kubeflow_trainer.images(cluster, engine)),
        Release(helm, "training-runtimes", kubeflow_trainer.NAMESPACE, of_runtimes),
    ]
    job = ("--namespace", fresh_namespace, "trainjob/older")

    def identity(kind: str) -> str:
        about = ("get", kind, "older", "--namespace", fresh_namespace, "--output=jsonpath={.metadata.uid}")
        return api.kubectl(cluster.kubeconfig, *about, "--ignore-not-found")

    kubeflow_trainer.remove_crds(cluster)
    try:
        for release in releases:
            release.install(released.part(release.chart, tmp_path / release.chart))
        api.kubectl(cluster.kubeconfig, "create", "--namespace", fresh_namespace, "--filename=-", stdin=TRAINJOB)
        before = identity("trainjob"), api.wait_until(lambda: identity("jobset"), what="the JobSet", seconds=60)

        for release in releases:
            release.upgrade()
        assert (identity("trainjob"), identity("jobset")) == before
        api.kubectl(cluster.kubeconfig, "patch", *job, "--type=merge", "--patch", '{"spec": {"suspend": false}}')
        api.kubectl(cluster.kubeconfig, "wait", *job, "--for=condition=Complete", "--timeout=180s")
    finally:
        # Runtimes stay as long as a TrainJob uses them.
        namespaces.delete(cluster.kubeconfig, fresh_namespace)
        for release in reversed(releases):
            release.uninstall()
        kubeflow_trainer.remove_crds(cluster)
        namespaces.delete(cluster.kubeconfig, kubeflow_trainer.NAMESPACE)


def test_a_run_keeps_its_addresses_and_its_traffic_while_the_networks_are_upgraded(
    cluster: Cluster, engine: Engine, helm: Helm, fresh_namespace: str, connection: Any, tmp_path: Path
) -> None:
    rail: networks.Network = {
        "name": "rail",
        "type": "macvlan",
        "ipam": {"type": "whereabouts", "subnet": "10.90.0.0/16"},
        "rails": [{"master": rails.add(cluster, engine)}],
    }
    release = Release(helm, networks.CHART, networks.NAMESPACE, networks.values(cluster, engine, [rail]))
    run = Run(cluster, engine, fresh_namespace, "older")
    attached = {"fabric.networks": [{"name": "rail-0", "namespace": networks.NAMESPACE}]}
    try:
        release.install(released.part(release.chart, tmp_path))
        run.install(settings={**all_reduce.settings(rounds=1_000_000), **attached})
        all_reduce.require_traffic(run)
        before = networks.addresses(connection, run.namespace, run.selector)
        assert len(set(before.values())) == 2

        release.upgrade()
        networks.wait_ready(cluster)
        all_reduce.require_traffic(run)
        assert networks.addresses(connection, run.namespace, run.selector) == before
    finally:
        run.uninstall()
        release.uninstall()
        rails.remove(cluster, engine)


def test_monitors_alerts_and_dashboards_are_replaced_in_place(
    cluster: Cluster, helm: Helm, fresh_namespace: str, tmp_path: Path
) -> None:
    with operator_crds.served(cluster, operator_crds.files("monitoring")):
        release = Release(helm, "training-monitoring", fresh_namespace, {})
        release.install(released.part(release.chart, tmp_path))
        release.upgrade()
        kinds = {name.split("/")[0] for name in release.objects()}
        assert kinds == {"ConfigMap", "PodMonitor", "PrometheusRule", "ServiceMonitor"}
        release.uninstall()


def test_policies_of_gpus_and_networks_are_not_created_again(cluster: Cluster, helm: Helm, tmp_path: Path) -> None:
    """For the operators, a policy that is created again is the removal of all drivers."""
    file = CHARTS / "gpu-rdma-policy" / "ci" / "onprem-ib-values.yaml"
    release = Release(helm, "gpu-rdma-policy", "gpu-operator", {}, [file])
    with operator_crds.served(cluster, operator_crds.write_documented(CHARTS.parent, tmp_path)):
        try:
            release.install(released.part(release.chart, tmp_path / "charts"))
            release.upgrade()
            assert release.objects().keys() >= {"ClusterPolicy/cluster-policy", "NicClusterPolicy/nic-cluster-policy"}
        finally:
            release.uninstall()
            namespaces.delete(cluster.kubeconfig, release.namespace)


def test_a_preflight_measures_again_with_the_newer_chart(
    cluster: Cluster, engine: Engine, fresh_namespace: str, connection: Any
) -> None:
    preflight = Preflight(cluster, engine, fresh_namespace, "older", cluster.workers)
    # The speed of two nodes that share a machine says nothing.
    small = {"sizes.end": "1Mi", "iterations": 4, "slowRatio": 0.01, "resources.requests": {"cpu": "100m"}}
    preflight.install(small, chart=str(released.PREFLIGHT))
    assert preflight.result().report["verdict"] == "passed"

    preflight.install(small, upgrade=True)
    assert preflight.result(revision=2).report["verdict"] == "passed"
    jobs = api.objects(connection, *JOB, namespace=preflight.namespace)
    assert [job.metadata.name for job in jobs] == [preflight.job(2)]
    preflight.uninstall()
