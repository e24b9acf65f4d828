"""The harness itself: the cluster that `up` creates, its times, recovery, and what `down` leaves alone.

Only the tests that promise seconds are `idle`: they run after all other tests on a cluster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_helm_charts.clusters import Cluster as KubeCluster
from pytest_helm_charts.k8s.deployment import wait_for_deployments_to_run

from tests.harness.cluster import api, cache, lifecycle, storage
from tests.harness.cluster.cluster import LABEL, WORKERS, Cluster
from tests.harness.cluster.engine import PROBE_REFERENCE, Engine

COMMAND = [sys.executable, "-m", "tests.harness"]
NEIGHBOUR = Cluster("trainyard-neighbour")


@pytest.mark.alone
def test_up_gives_one_control_plane_two_workers_and_cluster_dns(kube_cluster: KubeCluster, cluster: Cluster) -> None:
    client = kube_cluster.kube_client
    assert client is not None
    wait_for_deployments_to_run(client, ["coredns"], "kube-system", 60)
    nodes = api.objects(api.connect(cluster.kubeconfig), "v1", "Node")
    control_planes = [node for node in nodes if "node-role.kubernetes.io/control-plane" in dict(node.metadata.labels)]
    assert len(nodes) == WORKERS + 1
    assert len(control_planes) == 1


@pytest.mark.alone
def test_the_default_storage_class_is_local_and_another_is_shared(connection: Any) -> None:
    classes = {
        item.metadata.name: item.metadata.annotations
        for item in api.objects(connection, "storage.k8s.io/v1", "StorageClass")
    }
    marked = [
        name
        for name, annotations in classes.items()
        if annotations and annotations["storageclass.kubernetes.io/is-default-class"] == "true"
    ]
    assert marked == ["standard"]
    assert "shared" in classes


@pytest.mark.alone
def test_pods_on_different_nodes_share_a_volume(cluster: Cluster) -> None:
    storage.verify_shared_volume(cluster)


@pytest.mark.idle
def test_a_second_up_on_a_live_cluster_takes_under_five_seconds(cluster: Cluster) -> None:
    started = time.monotonic()
    finished = subprocess.run([*COMMAND, "up", "--name", cluster.name], capture_output=True, text=True, check=True)
    assert time.monotonic() - started < 5
    assert finished.stdout.strip() == f"export KUBECONFIG={cluster.kubeconfig}"


@pytest.mark.alone
def test_status_names_every_node_and_succeeds(cluster: Cluster) -> None:
    finished = subprocess.run([*COMMAND, "status", "--name", cluster.name], capture_output=True, text=True, check=True)
    assert all(node in finished.stderr for node in cluster.node_names)


@pytest.mark.alone
def test_load_puts_an_image_of_the_engine_on_every_worker(cluster: Cluster, engine: Engine) -> None:
    command = [*COMMAND, "load", PROBE_REFERENCE, "--name", cluster.name]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout.split() == [PROBE_REFERENCE]
    for worker in cluster.workers:
        listed = cluster.exec(engine, worker, "ctr", "--namespace", "k8s.io", "images", "list", "--quiet")
        assert PROBE_REFERENCE in listed.stdout.split()


@pytest.mark.alone
def test_load_of_something_else_names_what_can_be_loaded(cluster: Cluster, values_file: Path) -> None:
    values_file.write_text("nodes: 2\n")
    for what, message in (("absent:1", "neither an image archive nor"), (str(values_file), "is not an image archive")):
        command = [*COMMAND, "load", what, "--name", cluster.name]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 1
        assert message in refused.stderr
        assert "try:" in refused.stderr
        assert "Traceback" not in refused.stderr


def interrupt_up(engine: Engine, number: signal.Signals) -> int:
    """Start `up` as a terminal does, interrupt it once its first node runs, and return its exit status."""
    # A test runner in the background ignores SIGINT, and its children would inherit that.
    command = ["env", "--default-signal=INT", *COMMAND, "up", "--name", NEIGHBOUR.name]
    running = subprocess.Popen(command, start_new_session=True)
    api.wait_until(
        lambda: NEIGHBOUR.states(engine).get(NEIGHBOUR.node_names[0]) == "running", what="the first node", seconds=120
    )
    os.killpg(running.pid, number)
    return running.wait()


def cut_power(cluster: Cluster, engine: Engine) -> None:
    """Kill a cluster's containers together with their monitor processes: the engine still reports them as `running`."""
    for node in cluster.node_names:
        pid = int(engine.check("inspect", "--format", "{{.State.Pid}}", node))
        watcher = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(watcher, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)


@pytest.mark.idle
def test_an_interrupted_up_recovers_beside_another_cluster_and_down_removes_only_its_own(
    cluster: Cluster, engine: Engine, connection: Any
) -> None:
    # Not `down`, which looks for the cluster's folder: that may be gone while the engine still has containers of it.
    NEIGHBOUR.remove(engine)
    volumes = set(engine.check("volume", "ls", "--quiet").split())
    assert interrupt_up(engine, signal.SIGINT) == 130
    assert interrupt_up(engine, signal.SIGKILL) == -signal.SIGKILL
    assert NEIGHBOUR.engine() is None
    started = time.monotonic()
    lifecycle.up(NEIGHBOUR)
    assert time.monotonic() - started < 120, "a new cluster with a warm cache"
    try:
        assert api.nodes_ready(connection, WORKERS + 1)
        assert api.nodes_ready(api.connect(NEIGHBOUR.kubeconfig), WORKERS + 1)
        cut_power(NEIGHBOUR, engine)
        lifecycle.up(NEIGHBOUR, renew=True)
        assert api.nodes_ready(api.connect(NEIGHBOUR.kubeconfig), WORKERS + 1)
    finally:
        assert lifecycle.down(NEIGHBOUR)
    assert NEIGHBOUR.states(engine) == {}
    assert NEIGHBOUR.volumes(engine) == []
    assert set(engine.check("volume", "ls", "--quiet").split()) == volumes
    assert NEIGHBOUR.network not in engine.check("network", "ls")
    assert not NEIGHBOUR.folder.exists()
    assert api.nodes_ready(connection, WORKERS + 1)


@pytest.mark.alone
def test_up_restarts_a_stopped_node(cluster: Cluster, engine: Engine, connection: Any) -> None:
    engine.check("stop", "--time", "5", cluster.workers[-1])
    lifecycle.up(cluster)
    assert set(cluster.states(engine).values()) == {"running"}
    assert api.nodes_ready(connection, WORKERS + 1)
    storage.verify_shared_volume(cluster)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--no-install"], {"PATH": "/nonexistent"}, "no container engine can start a privileged container"),
        (["--api-port", "{port}"], {}, "cannot be used for the Kubernetes API"),
        ([], {"TRAINYARD_CACHE": "{small}"}, "GiB free"),
    ],
    ids=["no container engine", "port taken", "no disk space"],
)
def test_up_fails_with_a_message_and_leaves_nothing_behind(
    arguments: list[str],
    environment: dict[str, str],
    message: str,
    engine: Engine,
    taken_port: int,
    small_disk: str,
) -> None:
    words = {"port": str(taken_port), "small": small_disk}
    refused = subprocess.run(
        [*COMMAND, "up", "--name", "trainyard-refused", *(word.format(**words) for word in arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {name: value.format(**words) for name, value in environment.items()},
    )
    assert refused.returncode == 1
    assert message in refused.stderr
    assert "try:" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not engine.check("ps", "--all", "--quiet", "--filter", f"label={LABEL}=trainyard-refused")
    assert not (cache.root() / "clusters" / "trainyard-refused").exists()
