"""Namespaces for runs: Pod Security `restricted`, and removed whole."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cluster import api


def create(kubeconfig: Path, name: str) -> None:
    """Create a namespace that admits only pods of the `restricted` Pod Security Standard."""
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }
    api.kubectl(kubeconfig, "apply", "-f", "-", stdin=json.dumps(manifest))


def delete(kubeconfig: Path, name: str) -> None:
    """Remove a namespace with all that is in it and wait until it is gone; none is fine."""
    api.kubectl(kubeconfig, "delete", "namespace", name, "--ignore-not-found", "--timeout=120s")


def leftovers(kubeconfig: Path, namespace: str, release: str) -> list[str]:
    """What of a release is still there: its pods, Services, ConfigMaps and jobs, as `kind/name`."""
    connection = api.connect(kubeconfig)
    kinds = (("v1", "Pod"), ("v1", "Service"), ("v1", "ConfigMap"), ("kubeflow.org/v1", "PyTorchJob"))
    found = [
        (kind, item.metadata)
        for version, kind in kinds
        for item in api.objects(connection, version, kind, namespace=namespace)
    ]
    return [f"{kind}/{metadata.name}" for kind, metadata in found if metadata.name.startswith(release)]
