"""A run moves off a node that is off for certain, and stays on one that may still run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import node_health
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind
from tests.harness.jobs.run import Run

# Kubernetes takes 50 s to notice that a kubelet is silent.
pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(900)]

TAINT = "node.kubernetes.io/out-of-service"
RECORD = "trainyard/out-of-service"
SECONDS = 180
# Kubernetes collects the pods of a node out of service every 20 s.
REPLACED_SECONDS = 90
# An agent of these tests reports at least this often: checks.intervalSeconds + checks.timeoutSeconds + 130 s.
AGENT_SECONDS = 2 + 10 + 130


@contextmanager
def controller(cluster: Cluster, engine: Engine, proofs: list[str]) -> Iterator[None]:
    """Install node-health with these proofs. One of the three nodes may be out of service."""
    settings: dict[str, object] = {
        "pools": [{"name": "all", "maxPercent": 34, "atLeast": 0}],
        "lostNodes": {"proofs": proofs, "offSeconds": 30, "returnSeconds": 5},
    }
    with node_health.installed(cluster, engine, f"health-{uuid4().hex[:6]}", settings):
        yield


@contextmanager
def training(cluster: Cluster, engine: Engine, namespace: str, kind: Kind) -> Iterator[tuple[Run, str, str]]:
    """Start a run of one pod, and yield it with its node and the other worker, which is free."""
    first, second = cluster.workers
    run = Run(cluster, engine, namespace, f"lost-{uuid4().hex[:6]}", kind=kind)
    api.kubectl(cluster.kubeconfig, "cordon", second)
    args = ["--epochs", "1000000", "--checkpoint-dir", "/checkpoints"]
    try:
        run.install(settings={"nodes": 1, "train.args": args, "checkpoints.keep": False})
        wait(lambda: "epoch=2/" in log(run), "two epochs")
        api.kubectl(cluster.kubeconfig, "uncordon", second)
        yield run, first, second
    finally:
        api.kubectl(cluster.kubeconfig, "uncordon", second)
        come_back(run, first)
        run.uninstall()


def wait(condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    return api.wait_until(condition, what=what, seconds=seconds)


def log(run: Run) -> str:
    """Return the log of the run's pods; empty while there is none."""
    try:
        options = ["--namespace", run.namespace, "--selector", run.selector, "--tail=-1"]
        return api.kubectl(run.cluster.kubeconfig, "logs", *options)
    except ClusterError:
        return ""


def places(run: Run, connection: Any) -> set[str]:
    """Return the nodes of the run's pods, also of those that terminate."""
    return {str(pod.spec.nodeName) for pod in run.pods(connection)}


def stamp() -> str:
    """Return the time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def told(connection: Any, name: str, since: str) -> dict[str, str]:
    """Return the messages of a node's events from the controller since a time, by reason."""
    listed = api.objects(connection, "v1", "Event", namespace="default", field_selector=f"involvedObject.name={name}")
    ours = [one for one in listed if one.source.component == "trainyard-node-health"]
    return {one.reason: one.message for one in ours if one.lastTimestamp >= since}


def node(connection: Any, name: str) -> Any:
    return api.find(connection, "v1", "Node", name)


def ready(connection: Any, name: str) -> str:
    return next(str(one.status) for one in node(connection, name).status.conditions if one.type == "Ready")


def out_of_service(connection: Any, name: str) -> bool:
    """Return if the node has the taint, which has a record as long as it stands."""
    tree = node(connection, name).to_dict()
    tainted = any(taint["key"] == TAINT for taint in tree["spec"].get("taints", []))
    assert tainted == (RECORD in tree["metadata"].get("annotations", {}))
    return tainted


def come_back(run: Run, name: str) -> None:
    """Switch the node and its kubelet on, and wait until it is in service."""
    connection = api.connect(run.cluster.kubeconfig)
    run.engine.check("start", name)
    # A node that has just started refuses the command, and starts its kubelet by itself.
    run.cluster.exec(run.engine, name, "systemctl", "start", "kubelet")
    wait(lambda: ready(connection, name) == "True", "the node to be Ready")
    wait(lambda: not out_of_service(connection, name), "the node to be in service")


def epoch(run: Run, name: str) -> int:
    """Return the epoch that the pod on a node trains, of its log there: without a kubelet, the API server has none."""
    logs = f"/var/log/pods/{run.namespace}_{run.release}-*/pytorch/*.log"
    said = run.cluster.check(run.engine, name, "sh", "-c", f"tail -n 20 {logs}")
    return int(re.findall(r"epoch=(\d+)/", said)[-1])


def goes_on(run: Run, connection: Any, place: str) -> None:
    wait(lambda: places(run, connection) == {place}, "a pod on the other node", REPLACED_SECONDS)
    wait(lambda: "resumed: " in (said := log(run)) and "epoch=" in said.split("resumed: ")[1], "training there")


def test_a_pod_stays_until_somebody_states_that_its_node_is_off(
    cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    proofs = controller(cluster, engine, ["annotation"])
    with proofs, training(cluster, engine, namespace, PYTORCHJOB) as (run, first, second):
        began = stamp()
        engine.check("kill", "--signal", "KILL", first)
        killed = time.monotonic()
        wait(lambda: "NodeLost" in told(connection, first, began), "the advice")
        advised = time.monotonic()
        # As long as `time` would have taken.
        time.sleep(30)
        assert not out_of_service(connection, first)
        assert places(run, connection) == {first}

        statement = f"trainyard/powered-off-at={stamp()}"
        api.kubectl(cluster.kubeconfig, "annotate", "node", first, "--overwrite", statement)
        stated = time.monotonic()
        wait(lambda: out_of_service(connection, first), "the taint", 30)
        goes_on(run, connection, second)
        seconds = [round(advised - killed), round(time.monotonic() - stated)]
        print("told {} s after the kill; trains {} s after the statement".format(*seconds))
        come_back(run, first)
        assert {"NodeLost", "OutOfService", "Returned"} <= set(told(connection, first, began))
        assert "trainyard/powered-off-at" not in node(connection, first).to_dict()["metadata"]["annotations"]


@pytest.mark.usefixtures("trainer")
def test_a_trainjob_moves_once_the_time_that_the_platform_guarantees_is_over(
    cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    proofs = controller(cluster, engine, ["time"])
    with proofs, training(cluster, engine, namespace, TRAINJOB) as (run, first, second):
        engine.check("kill", "--signal", "KILL", first)
        killed = time.monotonic()
        wait(lambda: ready(connection, first) == "Unknown", "the silence of the kubelet")
        silent = time.monotonic()
        wait(lambda: out_of_service(connection, first), "the taint")
        tainted = time.monotonic()
        assert tainted - silent > 28
        goes_on(run, connection, second)
        seconds = [round(moment - killed) for moment in (silent, tainted, time.monotonic())]
        print("seconds after the kill: silent {}, out of service {}, trains {}".format(*seconds))


def test_time_is_no_proof_for_a_node_whose_agent_reports_until_that_falls_silent_too(
    cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    proofs = controller(cluster, engine, ["time"])
    with proofs, training(cluster, engine, namespace, PYTORCHJOB) as (run, first, second):
        began = stamp()
        cluster.check(engine, first, "systemctl", "stop", "kubelet")
        stopped = time.monotonic()
        wait(lambda: ready(connection, first) == "Unknown", "the silence of the kubelet")
        silent = time.monotonic()
        wait(lambda: "the agent reports" in told(connection, first, began).get("NodeLost", ""), "the warning")
        warned = time.monotonic()
        reached = epoch(run, first)
        wait(lambda: epoch(run, first) > reached, "training on a node without kubelet")
        assert not out_of_service(connection, first)
        assert places(run, connection) == {first}

        engine.check("kill", "--signal", "KILL", first)
        killed = time.monotonic()
        wait(lambda: out_of_service(connection, first), "the taint")
        tainted = time.monotonic()
        # The agent had just reported, and would do so again within this time.
        assert tainted - warned > AGENT_SECONDS - 10
        goes_on(run, connection, second)
        seconds = [round(moment - stopped) for moment in (silent, warned)]
        print("seconds after the stop of the kubelet: silent {}, told {}".format(*seconds))
        seconds = [round(moment - killed) for moment in (tainted, time.monotonic())]
        print("seconds after the kill: out of service {}, trains {}".format(*seconds))
