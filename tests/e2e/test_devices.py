"""Runs with GPUs and RDMA: they are scheduled onto nodes with the devices, and each process has its own GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.harness.cluster import api, devices, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.devices import HEALTHY, UNHEALTHY, Devices
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import pods
from tests.harness.jobs.run import Run

GPU, RDMA = "nvidia.com/gpu", "rdma/rdma_shared_device_a"
START_SECONDS = 120
SHOW = ["sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES; sleep infinity"]
STOP = "/tmp/stop"  # noqa: S108 - the only folder that a read-only container may write
# It calls all-reduce until one process finds the path UNTIL; then rank 0 prints the results of all ranks.
PROGRAM = """
import json, os, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
stopped = torch.zeros(1)
while not stopped:
    stopped.fill_(os.path.exists(os.environ["UNTIL"]))
    dist.all_reduce(stopped)
    print("sum", flush=True)
    time.sleep(0.1)
gpus = os.environ["NVIDIA_VISIBLE_DEVICES"].split(",")
said = {
    "pod": os.environ["HOSTNAME"],
    "gpu": gpus[int(os.environ["LOCAL_RANK"])],
    "adapters": os.environ["PCIDEVICE_RDMA_RDMA_SHARED_DEVICE_A"].split(","),
}
results = [None] * dist.get_world_size()
dist.all_gather_object(results, said)
if dist.get_rank() == 0:
    print(*("result " + json.dumps(each) for each in results), sep="\\n", flush=True)
dist.barrier()
"""


def node_devices(node: str, *, gpus: int, broken: tuple[int, ...] = ()) -> Devices:
    """Return the devices of a node: an RDMA adapter that pods share, and GPUs, some of them unhealthy."""
    return {
        GPU: {f"{node}-gpu-{number}": UNHEALTHY if number in broken else HEALTHY for number in range(gpus)},
        RDMA: {f"{node}-mlx5-{share}": HEALTHY for share in range(10)},
    }


def two_gpus_each(cluster: Cluster) -> dict[str, Devices]:
    """Return two GPUs on every worker."""
    return {node: node_devices(node, gpus=2) for node in cluster.workers}


@pytest.fixture(scope="module")
def plugin(cluster: Cluster) -> Iterator[None]:
    """The device plugin, which tests install with the devices they need; removed at the end."""
    yield
    devices.remove(cluster)


@pytest.fixture(scope="module")
def namespace(cluster: Cluster, training_operator: None) -> Iterator[str]:
    """A namespace with Pod Security `privileged`: RDMA needs a capability."""
    name = f"run-{uuid4().hex[:6]}"
    namespaces.create(cluster.kubeconfig, name, level="privileged")
    yield name
    namespaces.delete(cluster.kubeconfig, name)


def settings(*, until: str) -> dict[str, object]:
    """Return settings of a run with two processes on each of two nodes, each with a GPU, and InfiniBand resources."""
    return {
        "layout": "worker-only",
        "processesPerNode": 2,
        # The nodes have less memory than GPUs usually come with.
        "resources.limits": {"cpu": "800m", "memory": "1Gi", GPU: 2},
        "sharedMemory.size": "512Mi",
        "fabric.profile": "onprem-ib",
        "torchrun.args": ["--no-python"],
        "train.script": "python3",
        "train.args": ["-c", PROGRAM],
        "env.UNTIL": until,
        "checkpoints.enabled": False,
    }


def unschedulable(connection: Any, namespace: str, selector: str) -> dict[str, str]:
    """Return the scheduler's message for each unschedulable pod."""
    return {
        pod.metadata.name: condition.message
        for pod in api.objects(connection, "v1", "Pod", namespace=namespace, label_selector=selector)
        for condition in pod.status.conditions or []
        if condition.type == "PodScheduled" and condition.reason == "Unschedulable"
    }


def test_a_run_waits_until_a_node_has_enough_gpus_and_each_process_gets_its_own(
    plugin: None, cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    first, second = cluster.workers
    devices.advertise(cluster, engine, {first: node_devices(first, gpus=2), second: node_devices(second, gpus=1)})
    run = Run(cluster, engine, namespace, "asymmetric")
    run.install(settings=settings(until="."))
    waiting = api.wait_until(
        lambda: unschedulable(connection, namespace, run.selector), what="an unschedulable pod", seconds=START_SECONDS
    )
    ((pod, reason),) = waiting.items()
    assert f"Insufficient {GPU}" in reason
    describe = ("describe", "pod", pod, "--namespace", namespace)
    api.wait_until(
        lambda: re.search(f"FailedScheduling .* Insufficient {GPU}", api.kubectl(cluster.kubeconfig, *describe)),
        what="the event that names the resource",
        seconds=START_SECONDS,
    )

    devices.advertise(cluster, engine, two_gpus_each(cluster))

    outcome = run.follow()
    run.require_success(outcome)
    assert outcome.nodes[pod] == second
    assert set(outcome.nodes.values()) == {first, second}
    given = sorted((outcome.nodes[result["pod"]], result["gpu"]) for result in outcome.results)
    assert given == sorted((node, f"{node}-gpu-{number}") for node in cluster.workers for number in (0, 1))
    for result in outcome.results:
        (adapter,) = result["adapters"]
        assert adapter.startswith(f"{outcome.nodes[result['pod']]}-mlx5-")
    run.uninstall()


def log(cluster: Cluster, namespace: str, pod: str) -> str:
    """Return a pod's log, empty if it has not started."""
    try:
        return api.kubectl(cluster.kubeconfig, "logs", pod, "--namespace", namespace)
    except ClusterError:
        return ""


def start_gpu_pod(cluster: Cluster, engine: Engine, namespace: str, name: str) -> None:
    """Create a pod that requests one GPU and prints its id."""
    image = loading.load(cluster, engine, "trainer")
    spec = pods.restricted(image, SHOW, container={"resources": {"limits": {GPU: 1}}})
    metadata = {"name": name, "namespace": namespace, "labels": {"app": "show"}}
    api.apply(cluster.kubeconfig, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def allocated_gpu(cluster: Cluster, namespace: str, name: str) -> str:
    """Return the GPU of such a pod."""
    said = api.wait_until(
        lambda: log(cluster, namespace, name), what=f"pod {name} to have a GPU", seconds=START_SECONDS
    )
    return said.strip()


def test_an_unhealthy_gpu_is_allocated_again_only_when_it_is_healthy(
    plugin: None, cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    node = cluster.workers[-1]
    devices.advertise(cluster, engine, two_gpus_each(cluster))
    devices.advertise(cluster, engine, {node: node_devices(node, gpus=2, broken=(0,))})
    found = api.find(connection, "v1", "Node", node)
    assert found is not None
    assert (found.status.capacity[GPU], found.status.allocatable[GPU]) == ("2", "1")

    start_gpu_pod(cluster, engine, namespace, "first")
    assert allocated_gpu(cluster, namespace, "first") == f"{node}-gpu-1"
    start_gpu_pod(cluster, engine, namespace, "second")
    waiting = api.wait_until(
        lambda: unschedulable(connection, namespace, "app=show"), what="the pod to wait", seconds=START_SECONDS
    )
    assert list(waiting) == ["second"]
    assert f"2 Insufficient {GPU}" in waiting["second"]

    devices.advertise(cluster, engine, {node: node_devices(node, gpus=2)})
    assert allocated_gpu(cluster, namespace, "second") == f"{node}-gpu-0"
    api.kubectl(cluster.kubeconfig, "delete", "pods", "--namespace", namespace, "-l", "app=show")


@pytest.mark.alone  # a kubelet restart ends the log streams of other tests
def test_a_run_survives_restarts_of_the_plugin_and_a_kubelet(
    plugin: None, cluster: Cluster, engine: Engine, namespace: str, connection: Any
) -> None:
    node = cluster.workers[-1]
    devices.advertise(cluster, engine, two_gpus_each(cluster))
    run = Run(cluster, engine, namespace, "steady")
    run.install(settings=settings(until=STOP))

    def restarts() -> dict[str, int]:
        return {pod.metadata.uid: pod.status.containerStatuses[0].restartCount for pod in run.pods(connection)}

    def sums() -> int:
        return log(cluster, namespace, f"{run.release}-worker-0").count("sum")

    def require_progress() -> None:
        before = sums()
        api.wait_until(lambda: sums() > before, what="another all-reduce", seconds=START_SECONDS)

    api.wait_until(sums, what="the first all-reduce", seconds=START_SECONDS)
    before = restarts()
    plugins = ("delete", "pods", "--namespace", devices.NAMESPACE, "--all")
    api.kubectl(cluster.kubeconfig, *plugins)
    require_progress()
    assert cluster.exec(engine, node, "systemctl", "restart", "kubelet").returncode == 0
    # The kubelet learns of a third GPU, and that two are in use, only from a plugin that has registered again.
    devices.advertise(cluster, engine, {**two_gpus_each(cluster), node: node_devices(node, gpus=3)})
    start_gpu_pod(cluster, engine, namespace, "third")
    assert allocated_gpu(cluster, namespace, "third") == f"{node}-gpu-2"
    require_progress()

    api.kubectl(cluster.kubeconfig, "exec", f"{run.release}-worker-0", "-n", namespace, "--", "touch", STOP)
    outcome = run.follow(seconds=60)
    run.require_success(outcome)
    assert restarts() == dict.fromkeys(before, 0)
    given = sorted(result["gpu"] for result in outcome.results)
    assert given == sorted(f"{worker}-gpu-{number}" for worker in cluster.workers for number in (0, 1))
    run.uninstall()
