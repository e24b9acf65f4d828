"""Kubeflow Trainer and the JobSet controller that it uses, installed from their modules' manifests."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster import api, loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine

TOOL = "kubeflow-trainer"
MODULE = "github.com/kubeflow/trainer/v2"
JOBSET_MODULE = "sigs.k8s.io/jobset"
# Namespace and name of each Deployment, and its image, which has the name of its program.
TRAINER = ("kubeflow-system", "kubeflow-trainer-controller-manager", "trainer-controller-manager")
JOBSET = ("jobset-system", "jobset-controller-manager", "jobset")
# Both create their webhook certificates after the start; the kubelet's next sync brings them to the pods.
READY_SECONDS = 180
# Our images set no user; the published ones do.
USER = 65532
KUSTOMIZATION = "kustomization.yaml"


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Install Trainer until the block ends. All TrainJobs must be gone by then: a runtime in use cannot be deleted."""
    images = {image: loading.load(cluster, engine, image) for _, _, image in (TRAINER, JOBSET)}
    with _kustomization(images) as folder:
        try:
            # Client-side, each CRD would have to fit into an annotation.
            api.kubectl(cluster.kubeconfig, "apply", "--server-side", "--kustomize", str(folder))
            connection = api.connect(cluster.kubeconfig)
            for namespace, name, _ in (JOBSET, TRAINER):
                api.wait_until(
                    functools.partial(api.deployment_available, connection, namespace, name),
                    what=f"{name} to be Available",
                    seconds=READY_SECONDS,
                )
            yield
        finally:
            api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", "--kustomize", str(folder))


@contextmanager
def _kustomization(images: dict[str, str]) -> Iterator[Path]:
    """Write a kustomization of the manifests, with our images instead of the published ones; kubectl reads it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        trainer = modules.source(TOOL, MODULE) / "manifests/base"
        jobset = modules.source(TOOL, JOBSET_MODULE) / "config/default"
        _write(root / "trainer", [trainer / part for part in ("crds", "manager", "rbac", "webhook")], TRAINER, images)
        _write(root / "jobset", [jobset], JOBSET, images)
        # Trainer's own overlay has these too, but downloads JobSet's manifests.
        about = {"namespace": TRAINER[0], "name": "kubeflow-trainer-webhook-cert"}
        both = [{"kind": "Namespace", "metadata": {"name": TRAINER[0]}}, {"kind": "Secret", "metadata": about}]
        _save(
            root / "rest.yaml", {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", **o} for o in both]}
        )
        _save(root / KUSTOMIZATION, {"resources": ["rest.yaml", "jobset", "trainer"]})
        yield root


def _write(folder: Path, parts: list[Path], deployment: tuple[str, str, str], images: dict[str, str]) -> None:
    namespace, name, image = deployment
    folder.mkdir()
    container = "/spec/template/spec/containers/0"
    changes = {
        f"{container}/image": images[image],
        f"{container}/command": [f"/usr/local/bin/{image}"],
        # The defaults request half a CPU, and a small machine has two.
        f"{container}/resources": {},
        f"{container}/readinessProbe/initialDelaySeconds": 1,
        f"{container}/readinessProbe/periodSeconds": 1,
        "/spec/template/spec/securityContext": {"runAsNonRoot": True, "runAsUser": USER},
    }
    patch = [{"op": "add", "path": path, "value": value} for path, value in changes.items()]
    document = {
        "namespace": namespace,
        # Kustomize accepts no absolute path.
        "resources": [os.path.relpath(part, folder) for part in parts],
        "patches": [{"target": {"kind": "Deployment", "name": name}, "patch": json.dumps(patch)}],
    }
    _save(folder / KUSTOMIZATION, document)


def _save(file: Path, document: Mapping[str, object]) -> None:
    file.write_text(json.dumps(document))
