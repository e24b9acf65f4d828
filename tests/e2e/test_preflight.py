"""A preflight on three nodes without any operator: slow and missing nodes are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster import api, faults
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.preflight import JOB, Preflight, Result

# The tests slow a node's network down, and measurements need an idle machine.
pytestmark = pytest.mark.alone

CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
SETTINGS: dict[str, object] = {
    "sizes.end": "4Mi",
    "iterations": 8,
    # The nodes share this machine: on a busy one healthy pairs differ by half. The filter leaves a tenth.
    "slowRatio": 0.25,
    # A lower CPU limit would throttle processes for tens of milliseconds, as long as an all-reduce takes.
    "resources.limits": {"cpu": 2, "memory": "1Gi"},
    "resources.requests": {"cpu": "100m"},
    "placement.tolerations": [CONTROL_PLANE],
}


@pytest.fixture(scope="module")
def own_namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace with Pod Security `restricted`, which must be empty at the end."""
    name = f"preflight-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name)
    # Kubernetes creates these in every new namespace, with a delay.
    own = {"configmap/kube-root-ca.crt", "serviceaccount/default"}
    yield name
    # Endpoints are removed after their Service.
    api.wait_until(
        lambda: namespaces.contents(cluster.kubeconfig, name) == own, what="the namespace to be empty", seconds=60
    )
    namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def preflight(cluster: Cluster, engine: Engine, own_namespace: str) -> Iterator[Preflight]:
    """A preflight on all nodes, including the control plane; uninstalled at the end."""
    preflight = Preflight(cluster, engine, own_namespace, "check", cluster.node_names)
    yield preflight
    preflight.uninstall()


def condition(connection: Any, preflight: Preflight) -> str:
    """Wait for the end of the Job and return `Complete` or `Failed`."""

    def ended() -> str:
        job = api.find(connection, *JOB, preflight.release, preflight.namespace)
        assert job is not None
        types = [found.type for found in job.status.conditions or [] if found.status == "True"]
        return next((found for found in types if found in ("Complete", "Failed")), "")

    return api.wait_until(ended, what="the Job to end", seconds=60)


def require_sweep(result: Result, preflight: Preflight) -> None:
    """Assert that the report has all nodes, sizes and pairs, used the pods' network, and has no wrong sums."""
    report = result.report
    assert sorted(report["nodes"]) == sorted(preflight.nodes)
    assert (report["world"], report["backend"], report["transport"]) == (3, "gloo", ["tcp/eth0"])
    assert [(row["bytes"], row["wrong"]) for row in report["rows"]] == [(2**20, 0), (2**21, 0), (2**22, 0)]
    assert len(report["pairs"]) == 3


def test_a_slowed_node_is_named(preflight: Preflight, cluster: Cluster, engine: Engine, connection: Any) -> None:
    slow = cluster.workers[1]
    with faults.limit_bandwidth(cluster, engine, slow):
        preflight.install(SETTINGS)
        result = preflight.result()

    require_sweep(result, preflight)
    assert result.status == 1, result.log
    assert result.report["slowest"]["node"] == slow
    assert [found["node"] for found in result.report["slow"]] == [slow]
    assert result.message.startswith(f"failed\n{slow} is slow: ")
    # The rate of the token bucket filter, 200 Mbit/s, limits all three nodes.
    assert result.report["rows"][-1]["busbw"] < 0.05
    assert condition(connection, preflight) == "Failed"


def test_no_node_is_named_after_the_fault(preflight: Preflight, connection: Any) -> None:
    preflight.install(SETTINGS)
    result = preflight.result()

    require_sweep(result, preflight)
    assert result.status == 0, result.log
    assert (result.report["verdict"], result.report["slowest"]) == ("passed", None)
    assert result.message == "passed"
    assert condition(connection, preflight) == "Complete"


def test_nccl_tests_over_mpirun_without_ssh_name_the_slow_node(
    preflight: Preflight, cluster: Cluster, engine: Engine
) -> None:
    slow = cluster.node_names[0]
    # The stand-in for nccl-tests calls all-reduce of Open MPI over the slowed network.
    nccl_tests = {
        "ncclTests.enabled": True,
        "ncclTests.command": ["python3", "-m", "mpi4py", "/opt/programs/all_reduce_perf.py"],
        "ncclTests.mpirun": ["mpirun", "--mca", "btl_tcp_if_include", "eth0"],
    }
    with faults.limit_bandwidth(cluster, engine, slow):
        preflight.install({**SETTINGS, **nccl_tests})
        result = preflight.result()

    report = result.report
    assert (sorted(report["nodes"]), report["world"]) == (sorted(preflight.nodes), 3)
    assert report["backend"] == "nccl-tests"
    assert [(row["bytes"], row["wrong"]) for row in report["rows"]] == [(2**20, 0), (2**21, 0), (2**22, 0)]
    assert len(report["pairs"]) == 3
    assert result.status == 1, result.log
    assert [found["node"] for found in report["slow"]] == [slow]
    assert report["rows"][-1]["busbw"] < 0.05


def test_an_upgrade_with_other_values_and_a_rollback_measure_again(preflight: Preflight, connection: Any) -> None:
    small = {**SETTINGS, "sizes.end": "1Mi", "iterations": 2, "slowRatio": 0.1}
    preflight.install(small)
    first = preflight.result()
    preflight.install({**small, "sizes.end": "2Mi"}, upgrade=True)
    second = preflight.result(revision=2)
    assert [row["bytes"] for row in first.report["rows"]] == [2**20]
    assert [row["bytes"] for row in second.report["rows"]] == [2**20, 2**21]
    jobs = api.objects(connection, *JOB, namespace=preflight.namespace)
    assert [job.metadata.name for job in jobs] == [preflight.job(2)]

    Helm(preflight.cluster.kubeconfig).run("rollback", preflight.release, "1", "--namespace", preflight.namespace)
    third = preflight.result()
    assert [row["bytes"] for row in third.report["rows"]] == [2**20]


def test_a_node_without_a_pod_is_reported_missing_by_name(preflight: Preflight, cluster: Cluster) -> None:
    # Without a toleration no pod is scheduled on the control plane.
    preflight.install({**SETTINGS, "placement.tolerations": [], "startTimeoutSeconds": 15})
    result = preflight.result()

    control_plane = cluster.node_names[0]
    assert result.status == 1, result.log
    assert result.report["missing"] == [control_plane]
    assert result.message == f"failed\n{control_plane} did not join within 15 s"
