"""A NetworkPolicy keeps foreign pods out of a run, enforced by the cluster's network or by iptables on the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster import api, loading, policies
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import pods
from tests.harness.jobs.helm import Settings
from tests.harness.jobs.run import Run

RENDEZVOUS, METRICS = PORTS = (23456, 9400)
ENFORCED_SECONDS = 10
READY_SECONDS = 180
SERVE = f"""
import http.server, threading
for port in {PORTS}:
    server = http.server.ThreadingHTTPServer(("", port), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever).start()
"""
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)
    print("open")
except OSError as error:
    print("closed", error)
"""
SERVING: Settings = {
    "launcher": "command",
    "train.command": ["python3", "-c", SERVE],
    "train.args": [],
    "torchrun.port": RENDEZVOUS,
    "metrics": {"enabled": True, "port": METRICS},
    "checkpoints.enabled": False,
    # With the default requests four runs would fill the nodes.
    "resources.requests": {"cpu": "50m"},
}
RUNS: dict[str, Settings] = {
    "open": {},
    "alone": {"networkPolicy.enabled": True},
    "watched": {
        "networkPolicy.enabled": True,
        "networkPolicy.allow": [{"podLabels": {"app": "foreign"}, "ports": ["metrics"]}],
    },
    "inside": {"networkPolicy.enabled": True, "networkPolicy.egress.enabled": True},
}


@pytest.fixture(scope="module")
def place(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[str]:
    """A namespace with a pod `foreign`, a pod `hidden` from all others, and four runs, all of them Ready."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    api.apply(cluster.kubeconfig, *bystanders(loading.load(cluster, engine, "trainer"), name))
    for release, settings in RUNS.items():
        Run(cluster, engine, name, release).install(settings={**SERVING, **settings})
    connection = api.connect(cluster.kubeconfig)
    wanted = 2 + 2 * len(RUNS)
    api.wait_until(
        lambda: ready(connection, name) == wanted, what=f"{wanted} pods to be Ready in {name}", seconds=READY_SECONDS
    )
    by_itself = becomes(cluster, name, "foreign", "hidden", closed=True)
    if not by_itself:
        policies.enforce(cluster, engine, name)
    yield name
    if not by_itself:
        policies.lift(cluster, engine)
    namespaces.delete(cluster.kubeconfig, name)


def bystanders(image: str, namespace: str) -> list[dict[str, object]]:
    """Return the pods `foreign` and `hidden`, and the policy that isolates the latter."""
    commands = {"foreign": ["sleep", "infinity"], "hidden": ["python3", "-c", SERVE]}
    objects: list[dict[str, object]] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod, "namespace": namespace, "labels": {"app": pod}},
            "spec": pods.restricted(image, command),
        }
        for pod, command in commands.items()
    ]
    policy: dict[str, object] = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "hidden", "namespace": namespace},
        "spec": {"podSelector": {"matchLabels": {"app": "hidden"}}, "policyTypes": ["Ingress"]},
    }
    return [*objects, policy]


def ready(connection: Any, namespace: str) -> int:
    """Return the number of Ready pods in the namespace."""
    found = api.objects(connection, "v1", "Pod", namespace=namespace)
    return sum(
        any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions or [])
        for pod in found
    )


def is_open(cluster: Cluster, namespace: str, source: str, target: str, port: int) -> bool:
    """Returns true if a pod can connect to a port of another one."""
    pod = api.find(api.connect(cluster.kubeconfig), "v1", "Pod", target, namespace)
    assert pod is not None
    command = ("exec", source, "--namespace", namespace, "--", "python3", "-c", CONNECT, pod.status.podIP, str(port))
    return api.kubectl(cluster.kubeconfig, *command).startswith("open")


def becomes(
    cluster: Cluster, namespace: str, source: str, target: str, *, closed: bool, ports: tuple[int, ...] = PORTS
) -> bool:
    """Returns true if all of these ports become closed, or open, within `ENFORCED_SECONDS`."""

    def are() -> bool:
        return {is_open(cluster, namespace, source, target, port) for port in ports} == {not closed}

    try:
        return api.wait_until(are, what="the policy to be enforced", seconds=ENFORCED_SECONDS)
    except ClusterError:
        return False


def test_a_policy_blocks_foreign_pods_and_allows_the_run_s_own(place: str, cluster: Cluster) -> None:
    assert becomes(cluster, place, "foreign", "alone-master-0", closed=True)
    assert becomes(cluster, place, "alone-worker-0", "alone-master-0", closed=False)


def test_a_policy_allows_named_peers_at_their_port_only(place: str, cluster: Cluster) -> None:
    assert becomes(cluster, place, "foreign", "watched-master-0", closed=False, ports=(METRICS,))
    assert becomes(cluster, place, "foreign", "watched-master-0", closed=True, ports=(RENDEZVOUS,))


def test_an_egress_policy_blocks_connections_to_pods_outside_the_run(place: str, cluster: Cluster) -> None:
    assert becomes(cluster, place, "inside-worker-0", "inside-master-0", closed=False)
    assert becomes(cluster, place, "inside-worker-0", "open-master-0", closed=True)


def test_a_run_without_a_policy_is_open_to_foreign_pods(place: str, cluster: Cluster) -> None:
    assert becomes(cluster, place, "foreign", "hidden", closed=True)
    assert becomes(cluster, place, "foreign", "open-master-0", closed=False)
