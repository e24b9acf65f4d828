"""Pods of a run on a secondary network: Multus, Whereabouts and a rail between the nodes, set up by the chart."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import diagnosing, doctor_pods, tutorial
from tests.harness.cluster import api, loading, rails
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import all_reduce, networks, pods
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import Run

# Multus is involved in the start of every pod.
pytestmark = pytest.mark.alone

SUBNET = "10.90.0.0/16"
PODS = 100
# Two nodes start the pods one after another, and Whereabouts assigns addresses under a lock.
START_SECONDS = 420
END_SECONDS = 240


@pytest.fixture(scope="module")
def rail(cluster: Cluster, engine: Engine) -> Iterator[str]:
    """A network between the nodes, which pods attach as `rail-0`; the value is its interface on the nodes."""
    interface = rails.add(cluster, engine)
    # Leaked addresses are reclaimed every minute.
    networks.install(cluster, engine, [on_rail(interface)], settings={"whereabouts.reconcile": "* * * * *"})
    yield interface
    Helm(cluster.kubeconfig).uninstall(networks.RELEASE, namespace=networks.NAMESPACE)
    rails.remove(cluster, engine)


def on_rail(interface: str) -> networks.Network:
    """Return the network `rail-0` on an interface of the nodes."""
    return {
        "name": "rail",
        "type": "macvlan",
        "ipam": {"type": "whereabouts", "subnet": SUBNET},
        "rails": [{"master": interface}],
    }


def settings(*, rounds: int) -> dict[str, object]:
    """Return settings of a run whose processes call all-reduce over the rail."""
    return {
        **all_reduce.settings(rounds=rounds),
        "fabric.networks": [{"name": "rail-0", "namespace": networks.NAMESPACE}],
    }


def test_a_run_trains_over_the_rail(digits: Run, rail: str, connection: Any) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "rails")
    run.install(settings=settings(rounds=1))
    outcome = run.follow()
    run.require_success(outcome)

    given = networks.addresses(connection, run.namespace, run.selector)
    assert len(set(given.values())) == 2
    assert all(ipaddress.ip_address(address) in ipaddress.ip_network(SUBNET) for address in given.values())
    assert outcome.results
    assert {result["sum"] for result in outcome.results} == {2.0}
    # In a ring of two, each process sends one half, then the other: the size of the tensor in total.
    assert all(result["sent"] > all_reduce.MEBIBYTES << 20 for result in outcome.results)
    run.uninstall()


def test_a_run_fails_within_its_timeout_when_the_rail_is_gone(
    digits: Run, rail: str, cluster: Cluster, engine: Engine
) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "cut")
    run.install(settings=settings(rounds=100_000))
    differing, compared = list[str](), list[str]()

    def cut(pod: str, line: str) -> None:
        if line == "first sum" and pod.endswith("master-0"):
            differing.extend(tutorial.follow("two-nodes", run, release="mnist"))
            compared.append(tutorial.call(run, "diff", "release/cut", "pytorchjob/cut"))
            cluster.exec(engine, cluster.workers[0], "ip", "link", "set", rail, "down")

    try:
        outcome = run.follow(seconds=120, on_line=cut)
    finally:
        cluster.exec(engine, cluster.workers[0], "ip", "link", "set", rail, "up")
    assert not outcome.succeeded
    assert "first sum" in outcome.log
    assert any("imed out" in line or "closed by peer" in line for line in outcome.log), outcome.log[-5:]
    differing.extend(tutorial.follow("why-a-run-failed", run, release="llm", after="6. On a cluster"))
    run.uninstall()
    assert not differing, "\n".join(differing)
    assert compared == ["release/cut (PyTorchJob cut) and pytorchjob/cut (PyTorchJob cut) mean the same.\n"]


def test_a_pod_without_the_rail_fails_naming_the_missing_interface(digits: Run, rail: str) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "none")
    run.install(settings={**settings(rounds=1), "fabric.networks": []})
    outcome = run.follow()
    assert not outcome.succeeded
    assert any("net1" in line for line in outcome.log), outcome.log[-5:]
    run.uninstall()


def idle_pods(image: str, namespace: str, *, count: int, on_the_rail: bool) -> dict[str, Any]:
    """Return a Deployment of pods that do nothing."""
    labels = {"app": "idle"}
    annotations = {"k8s.v1.cni.cncf.io/networks": f"{networks.NAMESPACE}/rail-0"} if on_the_rail else {}
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": pods.restricted(image, ["sleep", "infinity"]),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "idle", "namespace": namespace},
        "spec": {"replicas": count, "selector": {"matchLabels": labels}, "template": template},
    }


def assigned_addresses(connection: Any) -> int:
    """Return the number of addresses that Whereabouts has assigned to pods."""
    pools = api.objects(connection, "whereabouts.cni.cncf.io/v1alpha1", "IPPool", namespace=networks.NAMESPACE)
    return sum(len(dict(pool.spec.allocations or {})) for pool in pools)


def test_a_hundred_pods_get_unique_addresses_and_release_them_when_killed(
    rail: str,
    namespace: str,
    cluster: Cluster,
    engine: Engine,
    connection: Any,
) -> None:
    image = loading.load(cluster, engine, "whereabouts")
    idle = idle_pods(image, namespace, count=PODS, on_the_rail=True)
    api.apply(cluster.kubeconfig, idle)
    api.wait_until(
        lambda: len(networks.addresses(connection, namespace, "app=idle")) == PODS,
        what=f"{PODS} pods to have their addresses",
        seconds=START_SECONDS,
    )
    assert len(set(networks.addresses(connection, namespace, "app=idle").values())) == PODS
    assert assigned_addresses(connection) == PODS

    api.kubectl(cluster.kubeconfig, "-n", namespace, "delete", "deployment", "idle", "--cascade=orphan")
    api.kubectl(cluster.kubeconfig, "-n", namespace, "delete", "replicaset", "-l", "app=idle", "--cascade=orphan")
    api.kubectl(cluster.kubeconfig, "-n", namespace, "delete", "pods", "-l", "app=idle", "--force", "--grace-period=0")
    api.wait_until(
        lambda: assigned_addresses(connection) == 0, what="all addresses to be released", seconds=END_SECONDS
    )

    daemons = api.objects(
        connection, "v1", "Pod", namespace=networks.NAMESPACE, label_selector="app.kubernetes.io/name=training-networks"
    )
    assert daemons
    assert {status.restartCount for pod in daemons for status in pod.status.containerStatuses} == {0}


def test_a_network_that_does_not_exist_is_named_by_doctor(
    digits: Run, rail: str, cluster: Cluster, engine: Engine, tmp_path: Path
) -> None:
    image = loading.load(cluster, engine, "trainer")
    place = f"{digits.namespace}-doctor"
    namespaces.create(cluster.kubeconfig, place, level="baseline")
    try:
        networks_of = {"k8s.v1.cni.cncf.io/networks": "rail-absent"}
        api.apply(cluster.kubeconfig, doctor_pods.sleeping(place, "railless", image, networks_of))
        wanted = frozenset({"network-attachment-missing"})
        diagnosing.require(cluster, place, "railless", wanted, tmp_path, seconds=60)
    finally:
        namespaces.delete(cluster.kubeconfig, place)


def test_a_run_continues_while_the_networks_are_upgraded_rolled_back_and_uninstalled(
    digits: Run, rail: str, cluster: Cluster, engine: Engine, connection: Any
) -> None:
    helm = Helm(cluster.kubeconfig)
    run = Run(digits.cluster, digits.engine, digits.namespace, "long")
    run.install(settings=settings(rounds=1_000_000))

    def names() -> set[str]:
        found = api.objects(connection, "k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition")
        return {network.metadata.name for network in found}

    all_reduce.require_traffic(run)
    other: networks.Network = {"name": "other", "type": "bridge", "bridge": "br1", "ipam": {"type": "none"}}
    networks.install(cluster, engine, [on_rail(rail), other], settings={"multus.logLevel": "debug"})
    assert names() == {"rail-0", "other"}
    all_reduce.require_traffic(run)

    helm.run("rollback", networks.RELEASE, "1", "--namespace", networks.NAMESPACE)
    networks.wait_ready(cluster)
    assert names() == {"rail-0"}
    all_reduce.require_traffic(run)

    helm.uninstall(networks.RELEASE, namespace=networks.NAMESPACE)
    all_reduce.require_traffic(run)
    plain = idle_pods(loading.load(cluster, engine, "whereabouts"), run.namespace, count=2, on_the_rail=False)
    api.apply(cluster.kubeconfig, plain)
    api.wait_until(
        lambda: api.deployment_available(connection, run.namespace, "idle"), what="pods without a rail", seconds=60
    )
    run.uninstall()
