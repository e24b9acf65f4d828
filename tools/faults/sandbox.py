"""Where one run has its fault: a namespace, a volume for checkpoints and one for events that no fault reaches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.cluster import api
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs import namespace as namespaces

CHECKPOINTS, EVENTS = "checkpoints", "events"
EVENTS_FILE = "steps.jsonl"
# Room for some ten checkpoints of the runs here.
SMALL_MEBIBYTES = 64
SMALL_FOLDER = "/srv/small"


@dataclass(frozen=True)
class Site:
    """With `small` the volume for checkpoints is a file system of a few MiB on one node, and both pods run there."""

    cluster: Cluster
    engine: Engine
    namespace: str
    small: bool

    @property
    def events(self) -> Path:
        """The file of events, on the host: it can be read whatever has happened to the nodes and the API."""
        folders = list((self.cluster.folder / "shared").glob(f"*_{self.namespace}_{EVENTS}"))
        return (folders[0] if folders else self.cluster.folder / "none") / EVENTS_FILE

    @property
    def small_node(self) -> str:
        """The node with the small file system."""
        return self.cluster.workers[-1]

    @property
    def small_folder(self) -> str:
        """Where that node has it."""
        return f"{SMALL_FOLDER}-{self.namespace}"

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl in the namespace and return its output."""
        return api.kubectl(self.cluster.kubeconfig, "--namespace", self.namespace, *arguments)

    def on_node(self, node: str, *command: str) -> str:
        """Run a command in a node's container and return its output; raise `ClusterError` when it fails."""
        return self.cluster.check(self.engine, node, *command)


@contextmanager
def site(cluster: Cluster, engine: Engine, *, small: bool) -> Iterator[Site]:
    """A site of its own, removed at the end with all that runs there."""
    found = Site(cluster, engine, f"faults-{uuid4().hex[:6]}", small)
    namespaces.create(cluster.kubeconfig, found.namespace, level="privileged")
    try:
        if small:
            _mount(found)
        api.apply(cluster.kubeconfig, _claim(found, CHECKPOINTS, small=small), _claim(found, EVENTS))
        yield found
    finally:
        # Not one after the other: the jobs would make new pods.
        found.kubectl("delete", "pytorchjobs", "--all", "--wait=false")
        found.kubectl("delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false")
        namespaces.delete(cluster.kubeconfig, found.namespace)
        if small:
            _unmount(found)


def _mount(place: Site) -> None:
    folder = place.small_folder
    place.on_node(place.small_node, "mkdir", "-p", folder)
    options = f"size={SMALL_MEBIBYTES}m,mode=0777"
    place.on_node(place.small_node, "mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)
    on_it = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [place.small_node]}]}
    spec = {
        "capacity": {"storage": f"{SMALL_MEBIBYTES}Mi"},
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "small",
        "local": {"path": folder},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [on_it]}},
        "claimRef": {"namespace": place.namespace, "name": CHECKPOINTS},
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": place.namespace}, "spec": spec}
    api.apply(place.cluster.kubeconfig, volume)


def _unmount(place: Site) -> None:
    api.kubectl(place.cluster.kubeconfig, "delete", "pv", place.namespace, "--ignore-not-found", "--wait=false")
    # Lazily: a container of the last pod may still be on its way out.
    place.on_node(place.small_node, "umount", "--lazy", place.small_folder)


def _claim(place: Site, name: str, *, small: bool = False) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": place.namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "small" if small else "shared",
            "resources": {"requests": {"storage": f"{SMALL_MEBIBYTES}Mi"}},
        },
    }
