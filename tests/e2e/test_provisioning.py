"""Kueue asks for the nodes of a run at once with a ProvisioningRequest, and admits the run when they are promised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.cluster import api, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kueue, operator_crds, platform
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.run import Run

pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(900)]

API = "kueue.x-k8s.io/v1beta2"
REQUESTS = "autoscaling.x-k8s.io/v1"
SECONDS = 120
CLASS = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
CHECK = "nodes"
# The objects of docs/autoscalers.md, for processors in place of GPUs.
CHECKS = [
    {
        "apiVersion": API,
        "kind": "ProvisioningRequestConfig",
        "metadata": {"name": CHECK},
        "spec": {"provisioningClassName": CLASS, "managedResources": ["cpu"]},
    },
    {
        "apiVersion": API,
        "kind": "AdmissionCheck",
        "metadata": {"name": CHECK},
        "spec": {
            "controllerName": "kueue.x-k8s.io/provisioning-request",
            "parameters": {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": CHECK},
        },
    },
]


@pytest.fixture
def checked(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[str]:
    """A namespace whose queue asks for nodes. Kueue looks for the kind of the requests when it starts."""
    folder = modules.source(kueue.TOOL, "k8s.io/autoscaler/cluster-autoscaler/apis") / "config/crd"
    crd = folder / "autoscaling.x-k8s.io_provisioningrequests.yaml"
    quota = {"flavor": "workers", "resources": {"cpu": "1", "memory": "2Gi"}}
    team = {"name": "vision", "namespaces": [namespace], "admissionChecks": [CHECK], "quotas": [quota]}
    settings = {
        "operator.enabled": False,
        "queues.enabled": True,
        "queues.name": "training",
        "queues.flavors": [{"name": "workers", "nodeLabels": {"kubernetes.io/os": "linux"}}],
        "queues.clusterQueues": [team],
    }
    helm, checks = Helm(cluster.kubeconfig), json.dumps({"apiVersion": "v1", "kind": "List", "items": CHECKS})
    with operator_crds.served(cluster, [crd]), kueue.installed(cluster, engine, namespace):
        api.kubectl(cluster.kubeconfig, "apply", "--filename=-", stdin=checks)
        helm.install("queues", platform.CHART, namespace=namespace, settings=settings)
        yield namespace
        helm.uninstall("queues", namespace=namespace)
        api.kubectl(cluster.kubeconfig, "delete", "--filename=-", stdin=checks)


def provision(cluster: Cluster, namespace: str, name: str) -> None:
    """Promise the nodes, as the cluster autoscaler does."""
    now = {"lastTransitionTime": "2026-01-31T12:00:00Z", "observedGeneration": 1}
    reasons = {"Accepted": "Accepted", "Provisioned": "Provisioned"}
    conditions = [
        {"type": kind, "status": "True", "reason": reason, "message": "", **now} for kind, reason in reasons.items()
    ]
    patch = ["patch", "provisioningrequest", name, "--namespace", namespace, "--subresource=status", "--type=merge"]
    api.kubectl(cluster.kubeconfig, *patch, "--patch", json.dumps({"status": {"conditions": conditions}}))


def test_a_run_waits_for_all_its_nodes_and_starts_when_they_are_promised(
    cluster: Cluster, engine: Engine, checked: str, connection: Any
) -> None:
    run = Run(cluster, engine, checked, "asking")
    maximum = {"provreq.kueue.x-k8s.io/maxRunDurationSeconds": "86400"}
    run.install(
        settings={
            "nodes": 2,
            "scheduling.queue.name": "training",
            "resources.requests": {"cpu": "400m", "memory": "1Gi"},
            "train.args": ["--epochs", "1000000", "--checkpoint-dir", "/checkpoints"],
            "jobAnnotations": maximum,
            "checkpoints.keep": False,
        }
    )

    (request,) = api.wait_until(
        lambda: api.objects(connection, REQUESTS, "ProvisioningRequest", namespace=checked),
        what="the ProvisioningRequest",
        seconds=SECONDS,
    )
    spec = request.to_dict()["spec"]
    assert spec["provisioningClassName"] == CLASS
    assert spec["parameters"] == {"maxRunDurationSeconds": "86400"}
    assert sum(pods["count"] for pods in spec["podSets"]) == 2
    for pods in spec["podSets"]:
        template = api.find(connection, "v1", "PodTemplate", pods["podTemplateRef"]["name"], checked)
        assert template is not None
        (container, *_) = template.to_dict()["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "400m", "memory": "1Gi"}
    assert run.pods(connection) == []

    provision(cluster, checked, request.metadata.name)
    api.wait_until(
        lambda: [pod.status.phase for pod in run.pods(connection)] == ["Running", "Running"],
        what="both pods to run",
        seconds=SECONDS,
    )
    run.uninstall()
