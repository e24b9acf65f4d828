"""The secondary networks of a cluster, installed by our chart with images that the harness builds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.helm import Helm, Settings

RELEASE = CHART = "training-networks"
# The namespace in which the priority class of node-critical pods is always admitted.
NAMESPACE = "kube-system"
PARTS = ("multus", "whereabouts")
READY_SECONDS = 120

Network = dict[str, object]


def images(cluster: Cluster, engine: Engine) -> Settings:
    """Load the chart's images and return the values that name them."""
    found: dict[str, object] = {}
    for part in PARTS:
        repository, tag = loading.load(cluster, engine, part).rsplit(":", 1)
        found |= {f"{part}.image.repository": repository, f"{part}.image.tag": tag}
    return found


def values(cluster: Cluster, engine: Engine, networks: Sequence[Network]) -> Settings:
    """Load the chart's images and return the values for these networks."""
    return {
        **images(cluster, engine),
        "whereabouts.enabled": True,
        "networks": list(networks),
        # No pod of a run is scheduled on the control plane, and images are not loaded into it.
        "tolerations": [],
    }


def install(
    cluster: Cluster,
    engine: Engine,
    networks: Sequence[Network],
    *,
    program: str = "helm",
    settings: Settings | None = None,
) -> None:
    """Install or upgrade Multus, Whereabouts and these networks, and wait until every node has them."""
    given = {**values(cluster, engine, networks), **(settings or {})}
    Helm(cluster.kubeconfig, program).install(RELEASE, CHART, namespace=NAMESPACE, settings=given, upgrade=True)
    wait_ready(cluster)


def addresses(connection: Any, namespace: str, selector: str) -> dict[str, str]:
    """Return each pod's address on its first secondary network, as Multus reports it."""
    found = {}
    for pod in api.objects(connection, "v1", "Pod", namespace=namespace, label_selector=selector):
        status = (pod.metadata.annotations or {}).get("k8s.v1.cni.cncf.io/network-status")
        for network in json.loads(status or "[]"):
            if network.get("interface") == "net1":
                (found[pod.metadata.name],) = network["ips"]
    return found


def wait_ready(cluster: Cluster) -> None:
    """Wait until both DaemonSets are rolled out and Ready on every node."""
    connection = api.connect(cluster.kubeconfig)
    api.wait_until(
        lambda: all(_rolled_out(connection, f"{RELEASE}-{part}") for part in PARTS),
        what=" and ".join(PARTS) + " to be Ready on every node",
        seconds=READY_SECONDS,
    )


def _rolled_out(connection: Any, name: str) -> bool:
    found = api.find(connection, "apps/v1", "DaemonSet", name, NAMESPACE)
    if found is None or (found.status.observedGeneration or 0) < found.metadata.generation:
        return False
    wanted = found.status.desiredNumberScheduled
    return bool(wanted and wanted == found.status.updatedNumberScheduled == found.status.numberReady)
