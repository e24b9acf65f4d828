"""Namespaces for runs: under a Pod Security Standard, and removed whole."""

from __future__ import annotations

from pathlib import Path

from tests.cluster import api

# Version and kind of a job's API.
Kind = tuple[str, str]
PYTORCHJOB = ("kubeflow.org/v1", "PyTorchJob")
TRAINJOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")
# What is made for a TrainJob, and is named like it.
UNDER_TRAINJOB = (
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    ("batch/v1", "Job"),
)
NOTES = {"events", "events.events.k8s.io", "leases.coordination.k8s.io"}


def create(kubeconfig: Path, name: str, *, level: str = "restricted") -> None:
    """Create a namespace that admits only pods of this Pod Security Standard."""
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": level}},
    }
    api.apply(kubeconfig, manifest)


def delete(kubeconfig: Path, name: str) -> None:
    """Remove a namespace with all that is in it and wait until it is gone; none is fine."""
    api.kubectl(kubeconfig, "delete", "namespace", name, "--ignore-not-found", "--timeout=120s")


def leftovers(kubeconfig: Path, namespace: str, release: str, kind: Kind = PYTORCHJOB) -> list[str]:
    """What of a release is still there: its pods, Services, ConfigMaps and jobs, as `kind/name`."""
    connection = api.connect(kubeconfig)
    kinds = (("v1", "Pod"), ("v1", "Service"), ("v1", "ConfigMap"), kind, *(UNDER_TRAINJOB if kind == TRAINJOB else ()))
    found = [
        (kind, item.metadata)
        for version, kind in kinds
        for item in api.objects(connection, version, kind, namespace=namespace)
    ]
    return [f"{kind}/{metadata.name}" for kind, metadata in found if metadata.name.startswith(release)]


def contents(kubeconfig: Path, namespace: str) -> set[str]:
    """Everything that a namespace holds, of any kind, as `kind/name`; without what the cluster notes by itself."""
    kinds = _kinds(kubeconfig, "--namespaced")
    return set(api.kubectl(kubeconfig, "get", kinds, "--namespace", namespace, "--output=name").split())


def contents_of_all(kubeconfig: Path) -> set[str]:
    """Everything that the cluster holds, as `kind/namespace/name`, without what it notes by itself."""
    kinds = _kinds(kubeconfig)
    place = '{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{"\\n"}{end}'
    return set(api.kubectl(kubeconfig, "get", kinds, "--all-namespaces", f"--output=jsonpath={place}").split())


def _kinds(kubeconfig: Path, *options: str) -> str:
    listed = api.kubectl(kubeconfig, "api-resources", *options, "--verbs=list", "--output=name")
    return ",".join(sorted(set(listed.split()) - NOTES))
