"""The platform chart on a cluster without any of its parts: one release installs all of them, and removes them.

With each Helm, the tests go through the life of a platform in order, while a run trains over the secondary network.
Helm 3 first installs the package of the last release, Helm 4 the chart of today.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import api, rails
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import all_reduce, networks, operator_crds, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS, Helm, Settings
from tests.harness.jobs.run import Run

# Everything that other tests depend on is removed and installed again.
pytestmark = pytest.mark.alone

NAMESPACE = "platform-runs"
FIRST = {"helm": str(Path(__file__).parent / "charts" / "training-platform-0.6.0.tgz"), "helm4": platform.CHART}
OPERATOR = f"{platform.RELEASE}-training-operator"
OTHER: networks.Network = {"name": "other", "type": "bridge", "bridge": "br1", "ipam": {"type": "none"}}
# The parts for operators that are not ours, with the minimal values that create policies.
OTHERS: Settings = {
    "monitoring.enabled": True,
    "gpu.enabled": True,
    "gpu.gpu.enabled": True,
    "gpu.images.registry": "registry.example.com",
}
OPERATORS = ("gpu-operator", "nvidia-network-operator")
# Kept: CRDs, their APIServices, and Whereabouts' record of the addresses in use.
KEPT = {"CustomResourceDefinition", "APIService", "IPPool", "OverlappingRangeIPReservation"}


@pytest.fixture(scope="module")
def bare(cluster: Cluster, engine: Engine) -> Iterator[Cluster]:
    """The session's cluster without any part."""
    with platform.bare(cluster, engine):
        for name, level in ((NAMESPACE, "restricted"), (platform.NAMESPACE, "privileged")):
            namespaces.create(cluster.kubeconfig, name, level=level)
        yield cluster
        platform.remove_crds(cluster)
        for name in (NAMESPACE, platform.NAMESPACE):
            namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def settings(bare: Cluster, engine: Engine) -> Iterator[Settings]:
    """The values that the chart needs on this cluster."""
    rail = rails.add(bare, engine)
    yield {**platform.images(bare, engine), "networks.networks[0].master": rail}
    rails.remove(bare, engine)


@pytest.fixture(scope="module", params=["helm", "helm4"])
def program(request: pytest.FixtureRequest) -> str:
    """Each version of Helm."""
    return str(request.param)


@pytest.fixture(scope="module")
def before(program: str, bare: Cluster) -> set[str]:
    """The contents of the cluster before the release."""
    platform.remove_crds(bare)
    return namespaces.cluster_contents(bare.kubeconfig)


@pytest.fixture(scope="module")
def run(
    program: str, bare: Cluster, engine: Engine, settings: Settings, before: set[str], tmp_path_factory: Any
) -> Iterator[Run]:
    """A run that calls all-reduce without end, with the values that the platform provides for runs."""
    platform.install(bare, chart=FIRST[program], program=program, settings=settings)
    values: Path = tmp_path_factory.mktemp("site") / "run.yaml"
    platform.write_run_values(bare, values)
    run = Run(bare, engine, NAMESPACE, "sums", program=program)
    run.install(settings=all_reduce.settings(rounds=1_000_000), values=[values])
    yield run
    run.uninstall()
    Helm(bare.kubeconfig, program).uninstall(platform.RELEASE, namespace=platform.NAMESPACE)


@pytest.fixture
def others(bare: Cluster, connection: Any, tmp_path: Path) -> Iterator[None]:
    """The kinds and namespaces of the other parts' operators, as if these were installed."""
    for name in OPERATORS:
        namespaces.create(bare.kubeconfig, name)
    files = [*operator_crds.write_documented(CHARTS.parent, tmp_path), *operator_crds.files("monitoring")]
    with operator_crds.served(bare, files):
        yield
    connection.resources.invalidate_cache()
    for name in OPERATORS:
        namespaces.delete(bare.kubeconfig, name)


def monitoring_kinds(connection: Any) -> set[str]:
    """Return the kinds of the monitoring part's objects of the Prometheus operator; other parts have monitors, too."""
    kinds = ("PodMonitor", "PrometheusRule", "ServiceMonitor")
    return {
        found.kind
        for kind in kinds
        for found in api.objects(connection, "monitoring.coreos.com/v1", kind, namespace=platform.NAMESPACE)
        if found.metadata.name.startswith(f"{platform.RELEASE}-training-monitoring-")
    }


def certificate(connection: Any) -> dict[str, str]:
    """Return the webhook's certificate, of which the operator has the only copy."""
    secret = api.find(connection, "v1", "Secret", f"{OPERATOR}-webhook-cert", platform.NAMESPACE)
    assert secret is not None
    return dict(secret.data or {})


def network_uids(connection: Any) -> dict[str, str]:
    """Return name and UID of each network; a recreated network has another UID."""
    found = api.objects(connection, "k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", namespace=platform.NAMESPACE)
    return {network.metadata.name: network.metadata.uid for network in found}


def threads(connection: Any) -> str:
    """Return the operator's argument for the number of concurrent reconciles."""
    found = api.find(connection, "apps/v1", "Deployment", OPERATOR, platform.NAMESPACE)
    assert found is not None
    return str(next(word for word in found.spec.template.spec.containers[0].args if "controller-threads" in word))


def test_a_run_trains_over_the_network_right_after_the_installation(run: Run, connection: Any) -> None:
    all_reduce.require_traffic(run)

    given = networks.addresses(connection, run.namespace, run.selector)
    assert len(set(given.values())) == 2
    assert all(address.startswith("10.90.") for address in given.values())


def test_an_upgrade_and_a_rollback_keep_the_certificate_the_networks_and_the_run(
    run: Run, settings: Settings, connection: Any
) -> None:
    pods = namespaces.contents(run.cluster.kubeconfig, run.namespace)
    kept, rail = certificate(connection), network_uids(connection)
    assert set(kept) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}

    changed = {**settings, "operator.controllerThreads": 11, "networks.networks[1]": OTHER}
    platform.install(run.cluster, program=run.program, settings=changed)
    assert threads(connection).endswith("=11")
    assert network_uids(connection).items() > rail.items()
    assert certificate(connection) == kept
    all_reduce.require_traffic(run)

    Helm(run.cluster.kubeconfig, run.program).run(
        "rollback", platform.RELEASE, "1", "--namespace", platform.NAMESPACE, "--wait"
    )
    assert threads(connection).endswith("=10")
    assert network_uids(connection) == rail
    assert certificate(connection) == kept
    all_reduce.require_traffic(run)
    assert namespaces.contents(run.cluster.kubeconfig, run.namespace) == pods


def test_policies_and_monitors_are_enabled_and_disabled_while_the_run_continues(
    run: Run, settings: Settings, connection: Any, others: None
) -> None:
    pods = namespaces.contents(run.cluster.kubeconfig, run.namespace)
    platform.install(run.cluster, program=run.program, settings={**settings, **OTHERS})
    connection.resources.invalidate_cache()
    policy = api.find(connection, "nvidia.com/v1", "ClusterPolicy", "cluster-policy")
    assert policy is not None
    assert policy.spec.dcgmExporter.enabled
    assert monitoring_kinds(connection) == {"PodMonitor", "PrometheusRule", "ServiceMonitor"}
    all_reduce.require_traffic(run)

    platform.install(run.cluster, program=run.program, settings=settings)
    assert api.find(connection, "nvidia.com/v1", "ClusterPolicy", "cluster-policy") is None
    assert monitoring_kinds(connection) == set()
    all_reduce.require_traffic(run)
    assert namespaces.contents(run.cluster.kubeconfig, run.namespace) == pods


def test_uninstall_leaves_only_the_crds_and_the_run(run: Run, before: set[str]) -> None:
    helm = Helm(run.cluster.kubeconfig, run.program)
    known = platform.installed_crds(run.cluster)
    helm.uninstall(platform.RELEASE, namespace=platform.NAMESPACE)
    all_reduce.require_traffic(run)

    left = namespaces.cluster_contents(run.cluster.kubeconfig) - before
    of_others = {place for place in left if f"/{run.namespace}/" not in place}

    assert platform.installed_crds(run.cluster) == known
    assert {place.split("/")[0] for place in of_others} == KEPT
