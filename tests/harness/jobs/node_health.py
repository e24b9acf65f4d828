"""The chart node-health on a test cluster, with files in place of the devices that its nodes lack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.harness.cluster import loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm, Settings

CHART, RELEASE = "node-health", "health"
FOLDER = "/srv/node-health"
LOG = f"{FOLDER}/kmsg"
PORT = f"{FOLDER}/sys/class/infiniband/mlx5_0/ports/1"
XID = "3,1,1,-;NVRM: Xid (PCI:0000:18:00): 79, pid=1896, GPU has fallen off the bus."
UP, DOWN = "4: ACTIVE", "1: DOWN"
START_SECONDS = 180


@dataclass(frozen=True)
class Health:
    """The imitated devices of the nodes: a kernel log, and a port of an InfiniBand adapter."""

    cluster: Cluster
    engine: Engine
    namespace: str

    def lose_gpu(self, node: str) -> None:
        """Write an XID into the kernel log of a node."""
        self._shell(node, f"echo '{XID}' >> {LOG}")

    def boot(self, node: str) -> None:
        """Begin the kernel log of a node again, as a boot does."""
        self._shell(node, f": > {LOG}")

    def set_port(self, node: str, state: str) -> None:
        """Set the state of the port of a node: `UP` or `DOWN`."""
        self._shell(
            node, f"mkdir -p {PORT} && echo '{state}' > {PORT}/state && echo '400 Gb/sec (4X NDR)' > {PORT}/rate"
        )

    def _shell(self, node: str, script: str) -> None:
        self.cluster.check(self.engine, node, "sh", "-c", script)


@contextmanager
def installed(cluster: Cluster, engine: Engine, namespace: str, settings: Settings | None = None) -> Iterator[Health]:
    """Install the chart on all nodes, with rounds of two seconds, until the block ends."""
    health = Health(cluster, engine, namespace)
    for node in cluster.node_names:
        health.set_port(node, UP)
        health.boot(node)
    repository, tag = loading.load(cluster, engine, CHART, cluster.node_names).rsplit(":", 1)
    given: dict[str, object] = {
        "image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
        "sources": {"sysfs": f"{FOLDER}/sys", "kernelLog": LOG, "state": f"{FOLDER}/state"},
        "checks.intervalSeconds": 2,
        "checks.timeoutSeconds": 10,
        # The disk of a test machine may be full, and belongs to all nodes.
        "checks.disks.minFreePercent": 0,
        "quarantine.healthySeconds": 10,
        # The tests of a cluster that is kept put its nodes into quarantine again and again.
        "quarantine.maxQuarantines": 100,
        "controller.intervalSeconds": 2,
        **(settings or {}),
    }
    helm = Helm(cluster.kubeconfig)
    # The agents mount folders of the nodes.
    namespaces.create(cluster.kubeconfig, namespace, level="privileged")
    try:
        options = ["--wait", f"--timeout={START_SECONDS}s"]
        helm.install(RELEASE, CHART, namespace=namespace, settings=given, options=options)
        yield health
    finally:
        helm.uninstall(RELEASE, namespace=namespace)
        namespaces.delete(cluster.kubeconfig, namespace)
        for node in cluster.node_names:
            cluster.check(engine, node, "rm", "-rf", FOLDER)
