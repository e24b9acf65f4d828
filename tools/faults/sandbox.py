"""The sandbox of one run: a namespace, a volume for checkpoints, and one for events that no fault affects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces

CHECKPOINTS, EVENTS = "checkpoints", "events"
EVENTS_FILE = "steps.jsonl"
# About ten checkpoints of these runs fit.
SMALL_MEBIBYTES = 64
SMALL_FOLDER = "/srv/small"


@dataclass(frozen=True)
class Sandbox:
    """A namespace and two volumes; with `small` the checkpoints are on a tmpfs of one node, where both pods run."""

    cluster: Cluster
    engine: Engine
    namespace: str
    small: bool

    @property
    def events(self) -> Path:
        """The events file on the host, which is readable whatever happens to the nodes and the API."""
        folders = list((self.cluster.folder / "shared").glob(f"*_{self.namespace}_{EVENTS}"))
        return (folders[0] if folders else self.cluster.folder / "none") / EVENTS_FILE

    @property
    def small_node(self) -> str:
        """The node with the small file system."""
        return self.cluster.workers[-1]

    @property
    def small_folder(self) -> str:
        """The mount point of the small file system."""
        return f"{SMALL_FOLDER}-{self.namespace}"

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl in the namespace and return its output."""
        return api.kubectl(self.cluster.kubeconfig, "--namespace", self.namespace, *arguments)

    def on_node(self, node: str, *command: str) -> str:
        """Run a command in a node's container and return its output; raise `ClusterError` when it fails."""
        return self.cluster.check(self.engine, node, *command)


@contextmanager
def create_sandbox(cluster: Cluster, engine: Engine, *, small: bool) -> Iterator[Sandbox]:
    """Create a sandbox, and remove it at the end with everything in it."""
    found = Sandbox(cluster, engine, f"faults-{uuid4().hex[:6]}", small)
    namespaces.create(cluster.kubeconfig, found.namespace, level="privileged")
    try:
        if small:
            _mount(found)
        api.apply(cluster.kubeconfig, _claim(found, CHECKPOINTS, small=small), _claim(found, EVENTS))
        yield found
    finally:
        # At the same time: otherwise the jobs would create new pods.
        found.kubectl("delete", "pytorchjobs", "--all", "--wait=false")
        found.kubectl("delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false")
        namespaces.delete(cluster.kubeconfig, found.namespace)
        if small:
            _unmount(found)


def _mount(sandbox: Sandbox) -> None:
    folder = sandbox.small_folder
    sandbox.on_node(sandbox.small_node, "mkdir", "-p", folder)
    options = f"size={SMALL_MEBIBYTES}m,mode=0777"
    sandbox.on_node(sandbox.small_node, "mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)
    on_it = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [sandbox.small_node]}]}
    spec = {
        "capacity": {"storage": f"{SMALL_MEBIBYTES}Mi"},
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "small",
        "local": {"path": folder},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [on_it]}},
        "claimRef": {"namespace": sandbox.namespace, "name": CHECKPOINTS},
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": sandbox.namespace}, "spec": spec}
    api.apply(sandbox.cluster.kubeconfig, volume)


def _unmount(sandbox: Sandbox) -> None:
    api.kubectl(sandbox.cluster.kubeconfig, "delete", "pv", sandbox.namespace, "--ignore-not-found", "--wait=false")
    # Lazily, because a container of the last pod may still be terminating.
    sandbox.on_node(sandbox.small_node, "umount", "--lazy", sandbox.small_folder)


def _claim(sandbox: Sandbox, name: str, *, small: bool = False) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": sandbox.namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "small" if small else "shared",
            "resources": {"requests": {"storage": f"{SMALL_MEBIBYTES}Mi"}},
        },
    }
