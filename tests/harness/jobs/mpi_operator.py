"""Kubeflow's MPI operator, installed from its module's manifests."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api, loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import operator, operator_crds

NAME = NAMESPACE = "mpi-operator"
MODULE = "github.com/kubeflow/mpi-operator"
OVERLAY = "manifests/overlays/standalone"
# Both operators' CRDs have this name, and each serves a version that the other does not.
CRD = "mpijobs.kubeflow.org"
OTHER_KINDS = ("jaxjob", "paddlejob", "pytorchjob", "tfjob", "xgboostjob")
READY_SECONDS = 60


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Let the MPI operator serve MPIJob and the training operator the other kinds; restore the latter at the end.

    The training operator's chart has values for this purpose. Its release at the end brings back its own definition of
    MPIJob.
    """
    image = loading.load(cluster, engine, "mpi-operator")
    operator.install(cluster, engine, settings={"schemes": OTHER_KINDS, "crds.enabled": False})
    api.kubectl(cluster.kubeconfig, "delete", "crd", CRD)
    with _kustomization(image) as folder:
        try:
            # Client-side, the whole CRD would have to fit into an annotation.
            api.kubectl(cluster.kubeconfig, "apply", "--server-side", "--kustomize", str(folder))
            connection = api.connect(cluster.kubeconfig)
            api.wait_until(
                lambda: api.deployment_available(connection, NAMESPACE, NAME),
                what="the MPI operator to be Available",
                seconds=READY_SECONDS,
            )
            yield
        finally:
            api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", "--kustomize", str(folder))
            operator.install(cluster, engine)


@contextmanager
def served(cluster: Cluster) -> Iterator[None]:
    """Let the API server serve the MPI operator's MPIJob beside the training operator's; neither operator runs one."""
    (file,) = operator_crds.files(NAME)
    (version,) = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)["spec"]["versions"]
    connection = api.connect(cluster.kubeconfig)
    name = version["name"]
    # An interrupted run may have left it.
    if name not in _versions(connection):
        _patch(cluster, {"op": "add", "path": "/spec/versions/-", "value": {**version, "storage": False}})

    def is_served() -> bool:
        connection.resources.invalidate_cache()
        return bool(connection.resources.search(api_version=f"kubeflow.org/{name}", kind="MPIJob"))

    try:
        api.wait_until(is_served, what=f"MPIJob {name} to be served", seconds=READY_SECONDS)
        yield
    finally:
        _patch(cluster, {"op": "remove", "path": f"/spec/versions/{_versions(connection).index(name)}"})


def _versions(connection: Any) -> list[str]:
    definition = api.find(connection, "apiextensions.k8s.io/v1", "CustomResourceDefinition", CRD)
    return [version.name for version in definition.spec.versions] if definition is not None else []


def _patch(cluster: Cluster, operation: dict[str, object]) -> None:
    # A CRD is longer than a command-line argument may be.
    command = ["patch", "crd", CRD, "--type=json", "--patch-file=/dev/stdin"]
    api.kubectl(cluster.kubeconfig, *command, stdin=json.dumps([operation]))


@contextmanager
def _kustomization(image: str) -> Iterator[Path]:
    """Write a kustomization of the operator's manifests, with our image instead of the published one."""
    repository, tag = image.rsplit(":", 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        overlay = modules.source("mpi-operator", MODULE) / OVERLAY
        document = {
            # Kustomize accepts no absolute path.
            "resources": [os.path.relpath(overlay, folder)],
            "images": [{"name": "mpioperator/mpi-operator", "newName": repository, "newTag": tag}],
        }
        (folder / "kustomization.yaml").write_text(json.dumps(document))
        yield folder
