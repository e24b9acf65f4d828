"""The metrics server, installed from the chart of its module: the API `metrics.k8s.io`, which autoscalers read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.cluster import loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.helm import Helm

TOOL = RELEASE = "metrics-server"
NAMESPACE = "kube-system"
MODULE = "sigs.k8s.io/metrics-server"
CHART = "charts/metrics-server"


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Install the metrics server until the block ends."""
    repository, tag = loading.load(cluster, engine, TOOL).rsplit(":", 1)
    settings = {
        "image.repository": repository,
        "image.tag": tag,
        # The kubelets of kind sign their own certificates.
        "args": ["--kubelet-insecure-tls"],
    }
    helm = Helm(cluster.kubeconfig)
    chart = str(modules.source(TOOL, MODULE) / CHART)
    try:
        helm.install(RELEASE, chart, namespace=NAMESPACE, settings=settings, options=["--wait"], upgrade=True)
        yield
    finally:
        helm.uninstall(RELEASE, namespace=NAMESPACE)
