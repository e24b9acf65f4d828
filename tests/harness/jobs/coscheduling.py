"""The scheduler of the project scheduler-plugins, installed from its module's chart beside the one of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.cluster import loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm

TOOL = RELEASE = NAMESPACE = "scheduler-plugins"
MODULE = "sigs.k8s.io/scheduler-plugins"
CHART = "manifests/install/charts/as-a-second-scheduler"
# The plugin asks for no retry when a device is added or a pod ends. By default there is one after five minutes anyway.
RETRY = "--pod-max-in-unschedulable-pods-duration=5s"
# Pods that found a node wait so long for the rest of their gang, if its PodGroup does not say otherwise.
PERMIT_SECONDS = 10


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Install the scheduler until the block ends; its CustomResourceDefinition must be served."""
    settings = {
        "scheduler.image": loading.load(cluster, engine, TOOL),
        "scheduler.command": [f"/usr/local/bin/{TOOL}", RETRY],
        # It only counts the pods in the status of PodGroups.
        "controller.replicaCount": 0,
        "plugins.enabled": ["Coscheduling"],
        "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": PERMIT_SECONDS}}],
    }
    helm = Helm(cluster.kubeconfig)
    chart = str(modules.source(TOOL, MODULE) / CHART)
    try:
        options = ["--create-namespace", "--wait"]
        helm.install(RELEASE, chart, namespace=NAMESPACE, settings=settings, options=options, upgrade=True)
        yield
    finally:
        helm.uninstall(RELEASE, namespace=NAMESPACE)
        namespaces.delete(cluster.kubeconfig, NAMESPACE)
