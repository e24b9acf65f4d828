"""Volumes: the provisioner of the `standard` and `shared` storage classes, and a check of both."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import api
from tests.harness.cluster.cluster import SHARED_PATH, Cluster
from tests.harness.cluster.images import system

MANIFEST = Path(__file__).parent / "manifests" / "storage.yaml"
PROOF = Path(__file__).parent / "manifests" / "shared-volume-proof.yaml"
NAMESPACE = "trainyard-storage"


def install(cluster: Cluster) -> None:
    """Apply the provisioner and wait until it is available."""
    image = system.reference(system.LOCAL_PATH)
    manifest = MANIFEST.read_text().replace("@IMAGE@", image).replace("@SHARED@", SHARED_PATH)
    api.kubectl(cluster.kubeconfig, "apply", "--server-side", "-f", "-", stdin=manifest)
    connection = api.connect(cluster.kubeconfig)
    api.wait_until(
        lambda: api.deployment_available(connection, NAMESPACE, "local-path"), what="the volume provisioner", seconds=90
    )


def verify_shared_volume(cluster: Cluster) -> None:
    """Let a pod on each worker read what the other wrote to one `shared` volume; raise `ClusterError` if it cannot.

    Each pod also queries the cluster's DNS, whose pods are on another node, and connects to the API's Service, which
    checks the pod network.
    """
    manifest = PROOF.read_text().replace("@IMAGE@", system.reference(system.KUBECTL))
    connection = api.connect(cluster.kubeconfig)
    api.kubectl(cluster.kubeconfig, "delete", "namespace", "shared-volume-proof", "--ignore-not-found")
    try:
        for number, worker in enumerate(cluster.workers):
            peer = (number + 1) % len(cluster.workers)
            words = {"@NUMBER@": str(number), "@PEER@": str(peer), "@NODE@": worker}
            text = manifest
            for placeholder, word in words.items():
                text = text.replace(placeholder, word)
            api.kubectl(cluster.kubeconfig, "apply", "-f", "-", stdin=text)
        for number in range(len(cluster.workers)):

            def succeeded(name: str = f"proof-{number}") -> bool:
                pod = api.find(connection, "v1", "Pod", name, "shared-volume-proof")
                return pod is not None and pod.status.phase == "Succeeded"

            api.wait_until(succeeded, what=f"pod proof-{number} to read what its peer wrote", seconds=90)
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "namespace", "shared-volume-proof", "--wait=false")
