"""Bad nodes leave service and come back: a run moves away with its last step, and a limit keeps the cluster usable.

The nodes have a file in place of the kernel's log, and a folder in place of sysfs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.e2e.test_queues import found
from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.tools import binary
from tests.harness.jobs import node_health
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.node_health import DOWN, UP, Health
from tests.harness.jobs.run import Run

# Nodes are marked, which other tests schedule pods on.
pytestmark = pytest.mark.alone

SECONDS = 180
MARK = "trainyard/quarantined"
STOPPED = r"stopped by SIGTERM: step=(\d+) is saved"
RESUMED = r"resumed: epoch=\d+ step=(\d+)"
# One of the three nodes, those of the control plane included, may be in quarantine.
SETTINGS = {"pools": [{"name": "all", "maxPercent": 34, "atLeast": 0}]}


@pytest.fixture(scope="module")
def health(cluster: Cluster, engine: Engine, training_operator: None) -> Iterator[Health]:
    """The chart on all nodes, none of which is in quarantine in the end."""
    with node_health.installed(cluster, engine, f"health-{uuid4().hex[:6]}", SETTINGS) as installed:
        yield installed
        for node in cluster.node_names:
            installed.boot(node)
            installed.set_port(node, UP)
        wait(lambda: not quarantined(cluster), "all nodes to be released")


def wait(condition: Callable[[], Any], what: str) -> Any:
    return api.wait_until(condition, what=what, seconds=SECONDS)


def quarantined(cluster: Cluster) -> list[str]:
    """Return the nodes in quarantine, by label, taint and record alike."""
    marked = []
    for node in api.objects(api.connect(cluster.kubeconfig), "v1", "Node"):
        tree = node.to_dict()
        marks = {
            MARK in tree["metadata"]["labels"],
            any(taint["key"] == MARK for taint in tree["spec"].get("taints", [])),
            "trainyard/quarantine" in tree["metadata"].get("annotations", {}),
        }
        assert len(marks) == 1, f"{tree['metadata']['name']} is half in quarantine"
        marked += [tree["metadata"]["name"]] * marks.pop()
    return marked


def condition(connection: Any, node: str) -> dict[str, str]:
    """Return the condition that the agent has set, or nothing."""
    of_node = api.find(connection, "v1", "Node", node)
    assert of_node is not None
    conditions = of_node.to_dict()["status"]["conditions"]
    return next((one for one in conditions if one["type"] == "TrainyardHealthy"), {})


def events(connection: Any, node: str) -> list[str]:
    """Return the reasons of a node's events from the two programs."""
    listed = api.objects(connection, "v1", "Event", namespace="default", field_selector=f"involvedObject.name={node}")
    return [one.reason for one in listed if one.source.component == "trainyard-node-health"]


@contextmanager
def following(run: Run, pod: str, file: Path) -> Iterator[Callable[[], list[str]]]:
    """Follow the log of one pod to its end, and yield a function that returns its lines."""
    command = [str(binary("kubectl")), "--kubeconfig", str(run.cluster.kubeconfig), "--namespace", run.namespace]
    with file.open("w") as output:
        process = subprocess.Popen([*command, "logs", "--follow", pod], stdout=output, stderr=subprocess.STDOUT)
        yield lambda: file.read_text().splitlines()
        process.kill()
        process.wait()


def test_each_agent_reports_its_node_and_one_controller_acts(health: Health, connection: Any) -> None:
    for node in health.cluster.node_names:
        wait(lambda node=node: condition(connection, node).get("status") == "True", f"the report of {node}")  # type: ignore[misc]
    pods = api.objects(
        connection, "v1", "Pod", namespace=health.namespace, label_selector="app.kubernetes.io/component=controller"
    )
    names = {f"{health.namespace}/health/{pod.metadata.name}" for pod in pods}

    def holder() -> str:
        lease = api.find(connection, "coordination.k8s.io/v1", "Lease", "trainyard-node-health", "kube-system")
        return str(lease.spec.holderIdentity) if lease is not None else ""

    assert len(names) == 2
    # The Lease of a release that was removed lasts for some seconds more.
    wait(lambda: holder() in names, "one of the controllers to hold the Lease")
    assert quarantined(health.cluster) == []


def test_a_run_leaves_a_bad_node_with_its_last_step_and_the_limit_holds(
    health: Health, namespace: str, connection: Any, tmp_path: Path
) -> None:
    run = Run(health.cluster, health.engine, namespace, "moving")
    args = ["--epochs", "1000000", "--checkpoint-dir", "/checkpoints"]
    run.install(settings={"nodes": 1, "train.args": args, "placement.healthLabels.forbidden": [MARK]})

    def place() -> str | None:
        running = [pod for pod in run.pods(connection) if pod.status.phase == "Running"]
        return str(running[0].spec.nodeName) if running else None

    first = wait(place, "the node of the run")
    (second,) = set(health.cluster.workers) - {first}
    (pod,) = [pod.metadata.name for pod in run.pods(connection)]
    with following(run, pod, tmp_path / "first.log") as lines:
        wait(lambda: found(r"(epoch=1/)", lines()), "the first epoch")
        health.lose_gpu(first)
        step = wait(lambda: found(STOPPED, lines()), "the save")
    assert wait(lambda: place() == second, "the run to go on on the other node")
    with following(run, pod, tmp_path / "second.log") as lines:
        assert wait(lambda: found(RESUMED, lines()), "the resumption") == step
    assert quarantined(health.cluster) == [first]
    assert condition(connection, first)["reason"] == "Xid79"
    wait(lambda: {"NodeUnhealthy", "Quarantined", "Evicted"} <= {*events(connection, first)}, "the events")

    uid = run.pods(connection)[0].metadata.uid
    health.set_port(second, DOWN)
    wait(lambda: "QuarantineLimit" in events(connection, second), "the limit to be told")
    assert condition(connection, second)["message"] == "port mlx5_0/1 is down (DOWN, unknown)"
    assert quarantined(health.cluster) == [first]
    assert [one.metadata.uid for one in run.pods(connection)] == [uid]

    health.boot(first)
    wait(lambda: quarantined(health.cluster) == [second], "the repaired node to take the place of the other")
    wait(lambda: "Released" in events(connection, first), "the event of the release")
    wait(lambda: place() == first, "the run to come back")

    health.set_port(second, UP)
    wait(lambda: quarantined(health.cluster) == [], "the second node to come back")
    run.uninstall()


def test_an_agent_cannot_report_for_another_node(health: Health, connection: Any) -> None:
    own, other = health.cluster.workers
    pods = api.objects(
        connection, "v1", "Pod", namespace=health.namespace, label_selector="app.kubernetes.io/component=agent"
    )
    (agent,) = [pod.metadata.name for pod in pods if pod.spec.nodeName == own]
    program = "import sys; from nodehealth.api import connect; connect().set_condition(sys.argv[1], {})"
    new = {"type": "Forged", "status": "True", "reason": "Forged", "message": ""}

    def report(node: str) -> str:
        command = ["exec", agent, "--namespace", health.namespace, "--", "python3", "-c"]
        return api.kubectl(health.cluster.kubeconfig, *command, program.replace("{}", json.dumps(new)), node)

    report(own)
    with pytest.raises(ClusterError, match="changes the status of its own node alone"):
        report(other)
    forged = [{"$patch": "delete", "type": "Forged"}]
    patch = ["patch", "node", own, "--subresource=status", "--type=strategic", "--patch"]
    api.kubectl(health.cluster.kubeconfig, *patch, json.dumps({"status": {"conditions": forged}}))


def test_a_second_release_is_refused(health: Health, namespace: str) -> None:
    with pytest.raises(ClusterError, match="trainyard-node-health"):
        Helm(health.cluster.kubeconfig).install("second", node_health.CHART, namespace=namespace)
