"""The sandbox of one run: a namespace, a volume for checkpoints, and one for events that no fault affects."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from tests.harness.cluster import api, host
from tests.harness.cluster.cluster import SHARED_PATH, Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces

# Of the names of namespaces.
PREFIX = "faults-"
CHECKPOINTS, EVENTS = "checkpoints", "events"
EVENTS_FILE = "steps.jsonl"
# The file system of a volume on one node: `tmpfs` in its memory, `ext4` in a file, which can be frozen.
FileSystem = Literal["tmpfs", "ext4"]
# About ten checkpoints of these runs fit.
LOCAL_MEBIBYTES = 64
LOCAL_FOLDER = "/srv/local"
MKFS = {"mkfs.ext4": ("e2fsprogs",)}


@dataclass(frozen=True)
class Sandbox:
    """A namespace and two volumes; with `local` both pods are on one node, and the checkpoints on a volume of it."""

    cluster: Cluster
    engine: Engine
    namespace: str
    local: FileSystem | None = None

    @property
    def events(self) -> Path:
        """The events file on the host, which is readable whatever happens to the nodes and the API."""
        return self.host_folder(EVENTS) / EVENTS_FILE

    def host_folder(self, claim: str) -> Path:
        """Return the folder of a shared volume on the host; one that does not exist before a pod uses the volume."""
        folders = list((self.cluster.folder / "shared").glob(f"*_{self.namespace}_{claim}"))
        return folders[0] if folders else self.cluster.folder / "none"

    @property
    def local_node(self) -> str:
        """The node with the local volume."""
        return self.cluster.workers[-1]

    @property
    def local_folder(self) -> str:
        """The mount point of the local volume."""
        return f"{LOCAL_FOLDER}-{self.namespace}"

    @property
    def local_image(self) -> str:
        """The name of the file that holds a local volume of ext4, in the folder that the nodes and the host share."""
        return f"{self.namespace}.ext4"

    def node_of(self, pod: str) -> str:
        """Return the node of a pod."""
        return self.kubectl("get", "pod", pod, "--output=jsonpath={.spec.nodeName}")

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl in the namespace and return its output."""
        return api.kubectl(self.cluster.kubeconfig, "--namespace", self.namespace, *arguments)

    def on_node(self, node: str, *command: str) -> str:
        """Run a command in a node's container and return its output; raise `ClusterError` when it fails."""
        return self.cluster.check(self.engine, node, *command)


@contextmanager
def create_sandbox(cluster: Cluster, engine: Engine, *, local: FileSystem | None) -> Iterator[Sandbox]:
    """Create a sandbox, and remove it at the end with everything in it."""
    found = Sandbox(cluster, engine, f"{PREFIX}{uuid4().hex[:6]}", local)
    namespaces.create(cluster.kubeconfig, found.namespace, level="privileged")
    try:
        if local:
            _mount(found)
        api.apply(cluster.kubeconfig, _claim(found, CHECKPOINTS, local=bool(local)), _claim(found, EVENTS))
        yield found
    finally:
        _remove(found)


def remove_leftovers(cluster: Cluster, engine: Engine) -> None:
    """Remove the sandboxes of interrupted calls, whose runs would train beside the measured one."""
    for listed in api.kubectl(cluster.kubeconfig, "get", "namespaces", "--output=name").split():
        name = listed.removeprefix("namespace/")
        if name.startswith(PREFIX):
            # Its volume may have been on one node.
            _remove(Sandbox(cluster, engine, name, "ext4"))


def _remove(sandbox: Sandbox) -> None:
    # At the same time: otherwise the jobs would create new pods.
    sandbox.kubectl("delete", "pytorchjobs", "--all", "--wait=false")
    sandbox.kubectl("delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false")
    namespaces.delete(sandbox.cluster.kubeconfig, sandbox.namespace)
    if sandbox.local:
        _unmount(sandbox)


def _mount(sandbox: Sandbox) -> None:
    node, folder = sandbox.local_node, sandbox.local_folder
    sandbox.on_node(node, "mkdir", "-p", folder)
    if sandbox.local == "tmpfs":
        sandbox.on_node(node, "mount", "-t", "tmpfs", "-o", f"size={LOCAL_MEBIBYTES}m", "tmpfs", folder)
    else:
        _make_file_system(sandbox.cluster.folder / "shared" / sandbox.local_image)
        sandbox.on_node(node, "mount", "-o", "loop", f"{SHARED_PATH}/{sandbox.local_image}", folder)
    # Pods of any user write here.
    sandbox.on_node(node, "chmod", "0777", folder)
    on_it = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    spec = {
        "capacity": {"storage": f"{LOCAL_MEBIBYTES}Mi"},
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "local",
        "local": {"path": folder},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [on_it]}},
        "claimRef": {"namespace": sandbox.namespace, "name": CHECKPOINTS},
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": sandbox.namespace}, "spec": spec}
    api.apply(sandbox.cluster.kubeconfig, volume)


def _make_file_system(image: Path) -> None:
    host.require_programs(MKFS, install=True)
    with image.open("wb") as file:
        file.truncate(LOCAL_MEBIBYTES << 20)
    subprocess.run([host.program("mkfs.ext4"), "-q", image], check=True)


def _unmount(sandbox: Sandbox) -> None:
    api.kubectl(sandbox.cluster.kubeconfig, "delete", "pv", sandbox.namespace, "--ignore-not-found", "--wait=false")
    folder = sandbox.local_folder
    # Lazily, because a container of the last pod may still be terminating.
    sandbox.on_node(sandbox.local_node, "sh", "-c", f"! mountpoint -q {folder} || umount --lazy {folder}")
    (sandbox.cluster.folder / "shared" / sandbox.local_image).unlink(missing_ok=True)


def _claim(sandbox: Sandbox, name: str, *, local: bool = False) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": sandbox.namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "local" if local else "shared",
            "resources": {"requests": {"storage": f"{LOCAL_MEBIBYTES}Mi"}},
        },
    }
