"""Namespaces of runs, each with a Pod Security Standard."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import api

# API version and kind of a job.
Kind = tuple[str, str]
PYTORCHJOB = ("kubeflow.org/v1", "PyTorchJob")
TRAINJOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")
# Objects that are created for a TrainJob, under its name.
TRAINJOB_CHILDREN = (
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    ("batch/v1", "Job"),
)
UNTRACKED_KINDS = {"events", "events.events.k8s.io", "leases.coordination.k8s.io"}


def pods_of(kind: Kind, name: str) -> str:
    """Return the label selector of a job's pods, for TrainJobs and any kind of the training operator."""
    label = "jobset.sigs.k8s.io/jobset-name" if kind == TRAINJOB else "training.kubeflow.org/job-name"
    return f"{label}={name}"


def create(kubeconfig: Path, name: str, *, level: str = "restricted") -> None:
    """Create a namespace that admits only pods of this Pod Security Standard."""
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": level}},
    }
    api.apply(kubeconfig, manifest)


def delete(kubeconfig: Path, name: str) -> None:
    """Remove a namespace with everything in it and wait until it is gone; a missing one is no error."""
    api.kubectl(kubeconfig, "delete", "namespace", name, "--ignore-not-found", "--timeout=120s")


def leftovers(kubeconfig: Path, namespace: str, release: str, kind: Kind = PYTORCHJOB) -> list[str]:
    """Return the pods, Services, ConfigMaps and jobs of a release that still exist, as `kind/name`."""
    connection = api.connect(kubeconfig)
    kinds = (
        ("v1", "Pod"),
        ("v1", "Service"),
        ("v1", "ConfigMap"),
        kind,
        *(TRAINJOB_CHILDREN if kind == TRAINJOB else ()),
    )
    found = [
        (kind, item.metadata)
        for version, kind in kinds
        for item in api.objects(connection, version, kind, namespace=namespace)
    ]
    return [f"{kind}/{metadata.name}" for kind, metadata in found if metadata.name.startswith(release)]


def contents(kubeconfig: Path, namespace: str) -> set[str]:
    """Return all objects of a namespace as `kind/name`, except events and Leases."""
    kinds = _kinds(kubeconfig, "--namespaced")
    return set(api.kubectl(kubeconfig, "get", kinds, "--namespace", namespace, "--output=name").split())


def cluster_contents(kubeconfig: Path) -> set[str]:
    """Return all objects of the cluster as `kind/namespace/name`, except events and Leases."""
    kinds = _kinds(kubeconfig)
    place = '{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}{"\\n"}{end}'
    return set(api.kubectl(kubeconfig, "get", kinds, "--all-namespaces", f"--output=jsonpath={place}").split())


def _kinds(kubeconfig: Path, *options: str) -> str:
    listed = api.kubectl(kubeconfig, "api-resources", *options, "--verbs=list", "--output=name")
    return ",".join(sorted(set(listed.split()) - UNTRACKED_KINDS))
