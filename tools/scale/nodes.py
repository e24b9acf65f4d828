"""Nodes of KWOK: objects that are Ready and on which pods are Running at once, without a kubelet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.harness.cluster import api, modules
from tests.harness.cluster.tools import binary
from tests.harness.ports import free_port
from tools.scale.control_plane import ControlPlane

MODULE = "sigs.k8s.io/kwok"
# KWOK's own stages, without the one that ends the pods of a Job.
STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
)
OWN_STAGES = sorted((Path(__file__).parent / "stages").glob("*.yaml"))
LEASE_SECONDS = 40
PER_RACK, RACKS_PER_BLOCK = 16, 8
RACK, BLOCK = "topology.example.com/rack", "topology.example.com/block"
GPUS = 8
CHUNK = 500


def start(plane: ControlPlane) -> None:
    """Start KWOK, which looks after all nodes."""
    stages = modules.source("kwok", MODULE) / "kustomize/stage"
    port = free_port()
    plane.addresses["kwok"] = f"http://127.0.0.1:{port}"
    plane.processes.start(
        "kwok",
        [
            binary("kwok"),
            f"--kubeconfig={plane.folder / 'kwok.kubeconfig'}",
            "--manage-all-nodes",
            f"--node-lease-duration-seconds={LEASE_SECONDS}",
            f"--server-address=127.0.0.1:{port}",
            *(f"--config={stage}" for stage in (*(stages / stage for stage in STAGES), *OWN_STAGES)),
        ],
    )


def create(plane: ControlPlane, numbers: range, *, wait: bool = True) -> None:
    """Create nodes with these numbers, and wait until as many are Ready as the last number says."""
    nodes = list(_nodes(numbers))
    for first in range(0, len(nodes), CHUNK):
        plane.create(nodes[first : first + CHUNK])
    if wait:
        api.wait_until(lambda: ready(plane) >= numbers.stop, what="the nodes to be Ready", seconds=60 + len(nodes) / 5)


def ready(plane: ControlPlane) -> int:
    """Return the number of nodes that are Ready."""
    plane.processes.check()
    path = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'
    return plane.kubectl("get", "nodes", f"--output=jsonpath={path}").split().count("True")


def name(number: int) -> str:
    """Return the name of a node."""
    return f"node-{number:04d}"


def _nodes(numbers: range) -> Iterator[dict[str, object]]:
    for number in numbers:
        rack = number // PER_RACK
        labels = {
            "kubernetes.io/hostname": name(number),
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "nvidia.com/gpu.present": "true",
            RACK: f"rack-{rack:03d}",
            BLOCK: f"block-{rack // RACKS_PER_BLOCK:02d}",
        }
        resources = {"cpu": "96", "memory": "1024Gi", "pods": "110", "nvidia.com/gpu": str(GPUS)}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name(number), "labels": labels},
            "status": {"allocatable": resources, "capacity": resources},
        }
