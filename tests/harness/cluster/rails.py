"""Rails: additional networks between a cluster's nodes, which carry the secondary networks of pods."""

from __future__ import annotations

import json

from tests.harness.cluster import progress
from tests.harness.cluster.cluster import LABEL, Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError


def add(cluster: Cluster, engine: Engine, rail: str = "rail0") -> str:
    """Connect every node to the network of this rail; return the name of its interface, which is the same on all nodes.

    Nodes that are already connected are skipped.
    """
    network = _network(cluster, rail)
    if engine.run("network", "inspect", network).returncode != 0:
        engine.check("network", "create", "--internal", "--label", f"{LABEL}={cluster.name}", network)
    with progress.step(f"connecting {len(cluster.node_names)} nodes to {rail}"):
        for node in cluster.node_names:
            if network not in _networks(engine, node):
                engine.check("network", "connect", network, node)
    interfaces = {_interface(cluster, engine, node, network) for node in cluster.node_names}
    if len(interfaces) != 1:
        raise ClusterError(f"{rail} is called {', '.join(sorted(interfaces))} on the nodes", hint="run down, then up")
    return interfaces.pop()


def sent(cluster: Cluster, engine: Engine, interface: str) -> dict[str, int]:
    """Return the bytes that each worker and its pods have sent over its interface of a rail."""
    file = f"/sys/class/net/{interface}/statistics/tx_bytes"
    return {node: int(cluster.exec(engine, node, "cat", file).stdout) for node in cluster.workers}


def remove(cluster: Cluster, engine: Engine, rail: str = "rail0") -> None:
    """Disconnect all nodes from the rail and remove its network."""
    network = _network(cluster, rail)
    for node in cluster.node_names:
        if network in _networks(engine, node):
            engine.check("network", "disconnect", network, node)
    engine.check("network", "rm", network)


def _network(cluster: Cluster, rail: str) -> str:
    return f"{cluster.network}-{rail}"


def _networks(engine: Engine, node: str) -> dict[str, dict[str, str]]:
    return dict(json.loads(engine.check("inspect", "--format", "{{json .NetworkSettings.Networks}}", node)))


def _interface(cluster: Cluster, engine: Engine, node: str, network: str) -> str:
    address = _networks(engine, node)[network]["MacAddress"].lower()
    links = json.loads(cluster.exec(engine, node, "ip", "-json", "link").stdout)
    return next(str(link["ifname"]) for link in links if link.get("address") == address)
