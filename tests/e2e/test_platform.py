"""The platform of a site on a cluster that knows none of its parts: one command brings all of it, and takes it away.

Each Helm goes through a site's life, in the order of the tests, while a run trains over the second network.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import api, rails
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import definitions as known
from tests.jobs import namespace as namespaces
from tests.jobs import networks, operator, platform, sums
from tests.jobs.helm import CHARTS, Helm, Settings
from tests.jobs.run import Run

# All that other tests stand on goes and comes.
pytestmark = pytest.mark.alone

NAMESPACE = "platform-runs"
GROUPS = ("kubeflow.org", "k8s.cni.cncf.io", "whereabouts.cni.cncf.io")
OPERATOR = f"{platform.RELEASE}-training-operator"
OTHER: networks.Network = {"name": "other", "type": "bridge", "bridge": "br1", "ipam": {"type": "none"}}
# The parts for operators that are none of ours, with the least that makes policies of them.
OTHERS: Settings = {
    "monitoring.enabled": True,
    "gpu.enabled": True,
    "gpu.gpu.enabled": True,
    "gpu.images.registry": "registry.example.com",
}
OPERATORS = ("gpu-operator", "nvidia-network-operator")
# What stays: the definitions, each with what Kubernetes makes of it, and Whereabouts' record of the addresses in use.
KEPT = {"CustomResourceDefinition", "APIService", "IPPool", "OverlappingRangeIPReservation"}


def definitions(connection: Any) -> list[str]:
    """Names of the parts' CustomResourceDefinitions that the cluster has."""
    found = api.objects(connection, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return sorted(crd.metadata.name for crd in found if crd.spec.group in GROUPS)


def forget(cluster: Cluster, connection: Any) -> None:
    """Take the definitions of the parts off the cluster."""
    if names := definitions(connection):
        api.kubectl(cluster.kubeconfig, "delete", "crd", "--timeout=60s", *names)


@pytest.fixture(scope="module")
def bare(cluster: Cluster, engine: Engine, connection: Any) -> Iterator[Cluster]:
    """The session's cluster, where nobody has installed anything; the operator of other tests is back afterwards."""
    helm = Helm(cluster.kubeconfig)
    found = helm.run("list", "--short", "--namespace", operator.NAMESPACE).split()
    helm.uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
    forget(cluster, connection)
    for name, level in ((NAMESPACE, "restricted"), (platform.NAMESPACE, "privileged")):
        namespaces.create(cluster.kubeconfig, name, level=level)
    yield cluster
    forget(cluster, connection)
    for name in (NAMESPACE, platform.NAMESPACE):
        namespaces.delete(cluster.kubeconfig, name)
    if operator.RELEASE in found:
        operator.install(cluster, engine)


@pytest.fixture(scope="module")
def settings(bare: Cluster, engine: Engine) -> Iterator[Settings]:
    """What the chart has to be told on this cluster."""
    rail = rails.add(bare, engine)
    yield {**platform.images(bare, engine), "networks.networks[0].master": rail}
    rails.remove(bare, engine)


@pytest.fixture(scope="module", params=["helm", "helm4"])
def program(request: pytest.FixtureRequest) -> str:
    """Each Helm."""
    return str(request.param)


@pytest.fixture(scope="module")
def before(program: str, bare: Cluster, connection: Any) -> set[str]:
    """What the cluster held before the release."""
    forget(bare, connection)
    return namespaces.contents_of_all(bare.kubeconfig)


@pytest.fixture(scope="module")
def run(
    program: str, bare: Cluster, engine: Engine, settings: Settings, before: set[str], tmp_path_factory: Any
) -> Iterator[Run]:
    """A run that sums without end, with the values that the platform keeps for it."""
    platform.install(bare, program=program, settings=settings)
    values: Path = tmp_path_factory.mktemp("site") / "run.yaml"
    platform.write_run_values(bare, values)
    run = Run(bare, engine, NAMESPACE, "sums", program=program)
    run.install(settings=sums.settings(rounds=1_000_000), values=[values])
    yield run
    run.uninstall()
    Helm(bare.kubeconfig, program).uninstall(platform.RELEASE, namespace=platform.NAMESPACE)


@pytest.fixture
def others(bare: Cluster, connection: Any, tmp_path: Path) -> Iterator[None]:
    """The kinds and namespaces of the operators that the other parts are for, as if those were installed."""
    for name in OPERATORS:
        namespaces.create(bare.kubeconfig, name)
    files = [*known.written(CHARTS.parent, tmp_path), *known.of("monitoring")]
    with known.served(bare, files):
        yield
    connection.resources.invalidate_cache()
    for name in OPERATORS:
        namespaces.delete(bare.kubeconfig, name)


def monitored(connection: Any) -> set[str]:
    """Kinds of the Prometheus operator of which the monitoring part has an object; other parts have monitors, too."""
    kinds = ("PodMonitor", "PrometheusRule", "ServiceMonitor")
    return {
        found.kind
        for kind in kinds
        for found in api.objects(connection, "monitoring.coreos.com/v1", kind, namespace=platform.NAMESPACE)
        if found.metadata.name.startswith(f"{platform.RELEASE}-training-monitoring-")
    }


def certificate(connection: Any) -> dict[str, str]:
    """The webhook's certificate, of which the operator has the only copy."""
    secret = api.find(connection, "v1", "Secret", f"{OPERATOR}-webhook-cert", platform.NAMESPACE)
    assert secret is not None
    return dict(secret.data or {})


def made_networks(connection: Any) -> dict[str, str]:
    """Name and identity of each network: one that was made anew has another."""
    found = api.objects(connection, "k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", namespace=platform.NAMESPACE)
    return {network.metadata.name: network.metadata.uid for network in found}


def threads(connection: Any) -> str:
    """How many jobs of a kind the operator looks after at a time, as its Deployment says."""
    found = api.find(connection, "apps/v1", "Deployment", OPERATOR, platform.NAMESPACE)
    assert found is not None
    return str(next(word for word in found.spec.template.spec.containers[0].args if "controller-threads" in word))


def test_a_run_trains_over_the_network_right_after_the_first_installation(run: Run, connection: Any) -> None:
    sums.require_traffic(run)

    given = networks.addresses(connection, run.namespace, run.selector)
    assert len(set(given.values())) == 2
    assert all(address.startswith("10.90.") for address in given.values())


def test_an_upgrade_and_a_rollback_keep_the_certificate_the_networks_and_the_run(
    run: Run, settings: Settings, connection: Any
) -> None:
    pods = namespaces.contents(run.cluster.kubeconfig, run.namespace)
    kept, rail = certificate(connection), made_networks(connection)
    assert set(kept) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}

    changed = {**settings, "operator.controllerThreads": 11, "networks.networks[1]": OTHER}
    platform.install(run.cluster, program=run.program, settings=changed)
    assert threads(connection).endswith("=11")
    assert made_networks(connection).items() > rail.items()
    assert certificate(connection) == kept
    sums.require_traffic(run)

    Helm(run.cluster.kubeconfig, run.program).run(
        "rollback", platform.RELEASE, "1", "--namespace", platform.NAMESPACE, "--wait"
    )
    assert threads(connection).endswith("=10")
    assert made_networks(connection) == rail
    assert certificate(connection) == kept
    sums.require_traffic(run)
    assert namespaces.contents(run.cluster.kubeconfig, run.namespace) == pods


def test_policies_and_monitors_are_switched_on_and_off_while_the_run_goes_on(
    run: Run, settings: Settings, connection: Any, others: None
) -> None:
    pods = namespaces.contents(run.cluster.kubeconfig, run.namespace)
    platform.install(run.cluster, program=run.program, settings={**settings, **OTHERS})
    connection.resources.invalidate_cache()
    policy = api.find(connection, "nvidia.com/v1", "ClusterPolicy", "cluster-policy")
    assert policy is not None
    assert policy.spec.dcgmExporter.enabled
    assert monitored(connection) == {"PodMonitor", "PrometheusRule", "ServiceMonitor"}
    sums.require_traffic(run)

    platform.install(run.cluster, program=run.program, settings=settings)
    assert api.find(connection, "nvidia.com/v1", "ClusterPolicy", "cluster-policy") is None
    assert monitored(connection) == set()
    sums.require_traffic(run)
    assert namespaces.contents(run.cluster.kubeconfig, run.namespace) == pods


def test_uninstalled_it_leaves_the_definitions_and_the_run_and_nothing_else(
    run: Run, before: set[str], connection: Any
) -> None:
    helm = Helm(run.cluster.kubeconfig, run.program)
    known = definitions(connection)
    helm.uninstall(platform.RELEASE, namespace=platform.NAMESPACE)
    sums.require_traffic(run)

    left = namespaces.contents_of_all(run.cluster.kubeconfig) - before
    of_others = {place for place in left if f"/{run.namespace}/" not in place}

    assert definitions(connection) == known
    assert {place.split("/")[0] for place in of_others} == KEPT
