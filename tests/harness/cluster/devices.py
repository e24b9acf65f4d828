"""Simulated devices: GPUs and network adapters that a device plugin reports to the kubelets; the nodes have none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine

MANIFEST = Path(__file__).parent / "manifests" / "devices.yaml"
NAMESPACE = "trainyard-devices"
HEALTHY, UNHEALTHY = "Healthy", "Unhealthy"
# A kubelet checks for a changed ConfigMap every 5 s and updates its node's status every 10 s.
ALLOCATABLE_SECONDS = 60

# The health of each device of a node, by resource and device id.
Devices = Mapping[str, Mapping[str, str]]


def advertise(cluster: Cluster, engine: Engine, devices: Mapping[str, Devices]) -> None:
    """Give the workers exactly these devices, by node, and wait until they are allocatable."""
    image = loading.load(cluster, engine, "device-plugin")
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "devices", "namespace": NAMESPACE},
        "data": {node: json.dumps(of_node) for node, of_node in devices.items()},
    }
    manifest = f"{MANIFEST.read_text().replace('@IMAGE@', image)}---\n{json.dumps(config)}"
    api.kubectl(cluster.kubeconfig, "apply", "--server-side", "-f", "-", stdin=manifest)
    _wait_allocatable(cluster, devices)


def remove(cluster: Cluster) -> None:
    """Remove the plugin, and with it the devices, from all nodes."""
    api.kubectl(cluster.kubeconfig, "delete", "namespace", NAMESPACE, "--ignore-not-found")
    _wait_allocatable(cluster, {})


def allocatable(connection: Any, node: str) -> dict[str, int]:
    """Return the number of a node's devices, free or in use, by resource."""
    found = api.find(connection, "v1", "Node", node)
    assert found is not None
    # The names of devices have a domain; those of CPU, memory and storage do not. Those of gangs are no plugin's.
    amounts = dict(found.status.allocatable).items()
    counts = {name: int(count) for name, count in amounts if "/" in name and not name.startswith("example.com/")}
    return {name: count for name, count in counts.items() if count}


def _wait_allocatable(cluster: Cluster, devices: Mapping[str, Devices]) -> None:
    connection = api.connect(cluster.kubeconfig)
    wanted = {node: _healthy(devices.get(node, {})) for node in cluster.workers}
    api.wait_until(
        lambda: {node: allocatable(connection, node) for node in cluster.workers} == wanted,
        what="the devices to be allocatable",
        seconds=ALLOCATABLE_SECONDS,
    )


def _healthy(devices: Devices) -> dict[str, int]:
    counts = {resource: Counter(health.values())[HEALTHY] for resource, health in devices.items()}
    return {resource: count for resource, count in counts.items() if count}
