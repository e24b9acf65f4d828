"""An isolated run: `helm test` measures its network, then it trains behind its policy under its own account."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import Run

PORT = 9400
SETTINGS: dict[str, object] = {
    "train.args": ["--epochs", "1", "--checkpoint-dir", "/checkpoints"],
    "networkPolicy.enabled": True,
    "networkPolicy.egress.enabled": True,
    "serviceAccount.create": True,
    "metrics.enabled": True,
    "metrics.port": PORT,
    "preflight.enabled": True,
    "preflight.maxMebibytes": 8,
    "runPolicy.suspend": True,
}
# The test takes seconds; the rest is for images and volumes.
TEST_SECONDS = "180s"


def live(connection: Any, run: Run, version: str, kind: str, name: str) -> Any:
    """Return an object of the run, which must exist."""
    found = api.find(connection, version, kind, name, run.namespace)
    assert found is not None
    return found


def pods(run: Run) -> list[str]:
    """Return the pods of the release that still exist."""
    left = namespaces.leftovers(run.cluster.kubeconfig, run.namespace, run.release)
    return [name for name in left if name.startswith("Pod/")]


@pytest.fixture(scope="module")
def run(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[Run]:
    """A suspended run: installed, without pods."""
    run = Run(cluster, engine, namespace, "alone")
    run.install(settings=SETTINGS)
    yield run
    run.uninstall()


@pytest.mark.parametrize("program", ["helm", "helm4"])
def test_helm_test_measures_the_network_before_the_run_and_leaves_no_pod(run: Run, program: str) -> None:
    tested = Helm(run.cluster.kubeconfig, program).run(
        "test", run.release, "--namespace", run.namespace, "--timeout", TEST_SECONDS
    )

    assert "Phase:          Succeeded" in tested
    # Helm waits for the end of the Job; the garbage collector removes its pods after that.
    api.wait_until(lambda: not pods(run), what="the end of the preflight pods", seconds=60)


def test_a_slow_network_fails_helm_test_with_the_measurements(run: Run) -> None:
    slow = Run(run.cluster, run.engine, run.namespace, "slow")
    slow.install(settings={**SETTINGS, "preflight.minBusBandwidth": 1_000_000})

    with pytest.raises(ClusterError, match="GB/s of bus bandwidth at 8388608 bytes is below") as failure:
        Helm(run.cluster.kubeconfig).run("test", "slow", "--namespace", run.namespace, "--timeout", TEST_SECONDS)

    printed = re.search(r'^\{"nodes".*\}$', str(failure.value), re.MULTILINE)
    assert printed is not None, str(failure.value)
    report = json.loads(printed[0])
    assert sorted(report["nodes"]) == sorted(run.cluster.workers)
    assert (report["world"], report["backend"], report["transport"]) == (2, "gloo", ["tcp/eth0"])
    assert report["rows"][-1]["busbw"] > 0
    # A failed Job is kept for inspection.
    api.kubectl(run.cluster.kubeconfig, "delete", "job", "slow-preflight", "--namespace", run.namespace, "--wait")
    slow.uninstall()


@pytest.fixture(scope="module")
def outcome(run: Run) -> Outcome:
    """Resume the suspended run and wait for it to finish."""
    patch = json.dumps({"spec": {"runPolicy": {"suspend": False}}})
    command = ["patch", "pytorchjob", run.release, "--namespace", run.namespace, "--type=merge", "--patch", patch]
    api.kubectl(run.cluster.kubeconfig, *command)
    outcome = run.follow()
    run.require_success(outcome)
    return outcome


def test_the_run_trains_behind_its_policy(run: Run, outcome: Outcome, connection: Any) -> None:
    assert set(outcome.nodes.values()) == set(run.cluster.workers)
    policy = live(connection, run, "networking.k8s.io/v1", "NetworkPolicy", run.release)
    labels = policy.spec.podSelector.matchLabels.to_dict()
    selector = ",".join(f"{name}={value}" for name, value in labels.items())

    covered = api.objects(connection, "v1", "Pod", namespace=run.namespace, label_selector=selector)

    assert {pod.metadata.name for pod in covered} == set(outcome.nodes)


def test_the_pods_have_the_run_s_account_and_no_token(run: Run, outcome: Outcome, connection: Any) -> None:
    pods = [live(connection, run, "v1", "Pod", name) for name in outcome.nodes]

    assert {pod.spec.serviceAccountName for pod in pods} == {run.release}
    mounts = [mount.mountPath for pod in pods for mount in pod.spec.containers[0].volumeMounts]
    assert not [path for path in mounts if path.startswith("/var/run/secrets")]


def test_the_metrics_service_selects_the_pods_by_the_operator_s_label(
    run: Run, outcome: Outcome, connection: Any
) -> None:
    service = live(connection, run, "v1", "Service", f"{run.release}-metrics")
    selector = ",".join(f"{name}={value}" for name, value in service.spec.selector.to_dict().items())

    found = api.objects(connection, "v1", "Pod", namespace=run.namespace, label_selector=selector)

    assert {pod.metadata.name for pod in found} == set(outcome.nodes)
    ports = {port.name: port.containerPort for port in found[0].spec.containers[0].ports}
    assert ports[service.spec.ports[0].targetPort] == PORT
