"""A release with every feature that this cluster supports is tested, run and uninstalled without leftovers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import data_server
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.data_server import DataServer
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import Run

RELEASE = "all"
KEPT = f"persistentvolumeclaim/{RELEASE}-checkpoints"
# Objects of the chart, and those that the operator, the kubelet and Kubernetes' controllers create for them.
MADE = {
    f"configmap/{RELEASE}-dataset",
    f"configmap/{RELEASE}-launch",
    f"configmap/{RELEASE}-preflight",
    f"networkpolicy.networking.k8s.io/{RELEASE}",
    f"persistentvolumeclaim/{RELEASE}-data",
    f"pod/{RELEASE}-master-0",
    f"pod/{RELEASE}-worker-0",
    f"pytorchjob.kubeflow.org/{RELEASE}",
    f"service/{RELEASE}-master-0",
    f"service/{RELEASE}-metrics",
    f"service/{RELEASE}-tensorboard",
    f"serviceaccount/{RELEASE}",
    KEPT,
}


def everything(server: DataServer) -> dict[str, object]:
    """Return settings that enable all features; the run is suspended, so that its network can be tested first."""
    return {
        "launcher": "deepspeed",
        "deepspeed.option": "",
        "train.args": ["--epochs", "1", "--checkpoint-dir", "/checkpoints"],
        "checkpoints.keep": True,
        "volumes.data": {"create": {"size": "1Gi", "storageClassName": "shared", "keep": False}, "mountPath": "/data"},
        "scratch.enabled": True,
        "scratch.source": "ephemeral",
        "scratch.size": "1Gi",
        "dataset.source": "http",
        "dataset.volume": "data",
        "dataset.http.urls": [f"{server.address}/files/whole.bin"],
        "networkPolicy.enabled": True,
        "serviceAccount.create": True,
        "metrics.enabled": True,
        "tensorboard.enabled": True,
        "tensorboard.service": True,
        # The image has no TensorBoard; this process runs until the program ends.
        "tensorboard.command": ["sh", "-c", "sleep infinity"],
        "flightRecorder.enabled": True,
        "preflight.enabled": True,
        "preflight.maxMebibytes": 1,
        "runPolicy.suspend": True,
    }


@dataclass(frozen=True)
class Seen:
    """The contents of a namespace before, during and after the release, and Helm's output at the end."""

    before: set[str]
    during: set[str]
    after: set[str]
    words: str


@pytest.fixture(scope="module")
def seen(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[Seen]:
    """The release, from installation to uninstallation."""
    run = Run(cluster, engine, namespace, RELEASE)
    helm = Helm(cluster.kubeconfig)
    with data_server.running(cluster, engine, namespace) as server:
        before = namespaces.contents(cluster.kubeconfig, namespace)
        run.install(settings=everything(server))
        helm.run("test", RELEASE, "--namespace", namespace, "--timeout", "180s")
        patch = json.dumps({"spec": {"runPolicy": {"suspend": False}}})
        command = ["patch", "pytorchjob", RELEASE, "--namespace", namespace, "--type=merge", "--patch", patch]
        api.kubectl(cluster.kubeconfig, *command)
        run.require_success(run.follow())
        during = namespaces.contents(cluster.kubeconfig, namespace)
        words = helm.uninstall(RELEASE, namespace=namespace)
        # Controllers delete a pod's dependents after the pod; the tests name what is kept.
        with suppress(ClusterError):
            api.wait_until(
                lambda: namespaces.contents(cluster.kubeconfig, namespace) <= before | {KEPT},
                what=f"release {RELEASE} to be gone",
                seconds=60,
            )
        yield Seen(before, during, namespaces.contents(cluster.kubeconfig, namespace), words)


def test_the_release_has_all_enabled_features(seen: Seen) -> None:
    assert seen.during - seen.before >= MADE


def test_only_the_checkpoints_are_left_in_the_namespace(seen: Seen) -> None:
    assert seen.after - {KEPT} == seen.before
    assert KEPT in seen.after


def test_helm_reports_that_the_checkpoints_are_kept(seen: Seen) -> None:
    assert f"[PersistentVolumeClaim] {RELEASE}-checkpoints" in seen.words
