"""Devices: GPUs and adapters that the nodes do not have, of which a device plugin of ours tells their kubelets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import api, loading
from .cluster import Cluster
from .engine import Engine

MANIFEST = Path(__file__).parent / "manifests" / "devices.yaml"
NAMESPACE = "trainyard-devices"
HEALTHY, UNHEALTHY = "Healthy", "Unhealthy"
# A kubelet looks for a changed ConfigMap every 5 s and writes its node's status every 10 s.
COUNTED_SECONDS = 60

# Health of each device of a node, by resource and id.
Devices = Mapping[str, Mapping[str, str]]


def advertise(cluster: Cluster, engine: Engine, devices: Mapping[str, Devices]) -> None:
    """Let the workers have these devices, by node, and no others, and wait until the scheduler counts on them."""
    image = loading.load(cluster, engine, "device-plugin")
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "devices", "namespace": NAMESPACE},
        "data": {node: json.dumps(of_node) for node, of_node in devices.items()},
    }
    manifest = f"{MANIFEST.read_text().replace('@IMAGE@', image)}---\n{json.dumps(config)}"
    api.kubectl(cluster.kubeconfig, "apply", "--server-side", "-f", "-", stdin=manifest)
    _wait_counted(cluster, devices)


def remove(cluster: Cluster) -> None:
    """Take the plugin off all nodes, and with it their devices."""
    api.kubectl(cluster.kubeconfig, "delete", "namespace", NAMESPACE, "--ignore-not-found")
    _wait_counted(cluster, {})


def allocatable(connection: Any, node: str) -> dict[str, int]:
    """Number of devices on a node that may be given out, or are, by resource."""
    found = api.find(connection, "v1", "Node", node)
    assert found is not None
    # The names of all other resources have no domain.
    counts = {name: int(count) for name, count in dict(found.status.allocatable).items() if "/" in name}
    return {name: count for name, count in counts.items() if count}


def _wait_counted(cluster: Cluster, devices: Mapping[str, Devices]) -> None:
    connection = api.connect(cluster.kubeconfig)
    wanted = {node: _healthy(devices.get(node, {})) for node in cluster.workers}
    api.wait_until(
        lambda: {node: allocatable(connection, node) for node in cluster.workers} == wanted,
        what="the nodes to have their devices",
        seconds=COUNTED_SECONDS,
    )


def _healthy(devices: Devices) -> dict[str, int]:
    counts = {resource: Counter(health.values())[HEALTHY] for resource, health in devices.items()}
    return {resource: count for resource, count in counts.items() if count}
