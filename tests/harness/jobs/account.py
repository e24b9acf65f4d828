"""A ServiceAccount that uses the cluster with its own rights."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.harness.cluster import api


def create(admin: Path, name: str, namespace: str, folder: Path) -> Path:
    """Create a ServiceAccount and return the path of its kubeconfig, which the folder holds."""
    api.kubectl(admin, "create", "serviceaccount", name, "--namespace", namespace)
    tree = yaml.safe_load(admin.read_text())
    token = api.kubectl(admin, "create", "token", name, "--namespace", namespace).strip()
    tree["users"][0]["user"] = {"token": token}
    path = folder / name
    path.write_text(yaml.safe_dump(tree))
    return path
