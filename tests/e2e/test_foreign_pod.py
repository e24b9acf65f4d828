"""A foreign pod is kept out of a run that has a policy, on a cluster whose network enforces policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.cluster import api, loading
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.cluster.errors import ClusterError
from tests.jobs import namespace as namespaces
from tests.jobs import pods
from tests.jobs.run import Run

RENDEZVOUS, METRICS = PORTS = (23456, 9400)
ENFORCED_SECONDS = 20
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


@pytest.fixture(scope="module")
def place(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[str]:
    """A namespace with a pod `foreign`, and a pod `target` that serves and that a policy hides from all others."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    image = loading.load(cluster, engine, "trainer")
    commands = {"foreign": ["sleep", "infinity"], "target": ["python3", "-c", SERVE]}
    objects: list[dict[str, object]] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod, "namespace": name, "labels": {"app": pod}},
            "spec": pods.restricted(image, command),
        }
        for pod, command in commands.items()
    ]
    hidden = {"podSelector": {"matchLabels": {"app": "target"}}, "policyTypes": ["Ingress"]}
    metadata = {"name": "target", "namespace": name}
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": hidden}
    api.apply(cluster.kubeconfig, *objects, policy)
    wait = ("wait", "pod", "--all", "--namespace", name, "--for=condition=Ready", "--timeout=60s")
    api.kubectl(cluster.kubeconfig, *wait)
    yield name
    namespaces.delete(cluster.kubeconfig, name)


def is_open(cluster: Cluster, namespace: str, source: str, target: str, port: int) -> bool:
    """Whether a pod connects to a port of another one."""
    pod = api.find(api.connect(cluster.kubeconfig), "v1", "Pod", target, namespace)
    assert pod is not None
    command = ("exec", source, "--namespace", namespace, "--", "python3", "-c", CONNECT, pod.status.podIP, str(port))
    return api.kubectl(cluster.kubeconfig, *command).startswith("open")


def becomes(cluster: Cluster, namespace: str, source: str, target: str, *, closed: bool) -> bool:
    """Whether both ports are closed, or open, before long."""

    def are() -> bool:
        return {is_open(cluster, namespace, source, target, port) for port in PORTS} == {not closed}

    try:
        return api.wait_until(are, what="the policy", seconds=ENFORCED_SECONDS)
    except ClusterError:
        return False


def installed(cluster: Cluster, engine: Engine, namespace: str, release: str, connection: Any, **more: object) -> Run:
    """A run of two pods that serve on its ports, once both are Ready."""
    run = Run(cluster, engine, namespace, release)
    settings = {
        "launcher": "command",
        "train.command": ["python3", "-c", SERVE],
        "train.args": [],
        "torchrun.port": RENDEZVOUS,
        "metrics": {"enabled": True, "port": METRICS},
        "checkpoints.enabled": False,
    }
    run.install(settings={**settings, **more})
    api.wait_until(
        lambda: all(is_ready(connection, namespace, f"{release}-{role}-0") for role in ("master", "worker")),
        what=f"the pods of {release} to be Ready",
        seconds=120,
    )
    return run


def is_ready(connection: Any, namespace: str, name: str) -> bool:
    """Whether a pod is there and Ready."""
    pod = api.find(connection, "v1", "Pod", name, namespace)
    conditions = (pod.status.conditions or []) if pod is not None else []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def test_a_policy_keeps_foreign_pods_out_and_lets_the_runs_own_in(
    place: str, cluster: Cluster, engine: Engine, connection: Any
) -> None:
    if not becomes(cluster, place, "foreign", "target", closed=True):
        pytest.skip("the network of this cluster enforces no NetworkPolicy")
    alone = installed(cluster, engine, place, "alone", connection, **{"networkPolicy.enabled": True})
    assert becomes(cluster, place, "foreign", "alone-master-0", closed=True)
    assert becomes(cluster, place, "alone-worker-0", "alone-master-0", closed=False)
    alone.uninstall()


def test_a_run_without_a_policy_is_open_to_foreign_pods(
    place: str, cluster: Cluster, engine: Engine, connection: Any
) -> None:
    run = installed(cluster, engine, place, "open", connection)
    assert becomes(cluster, place, "foreign", "open-master-0", closed=False)
    run.uninstall()
