"""Volcano, installed from its module's chart: the scheduler, its controllers, and its kinds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.cluster import loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import Helm, Settings

TOOL = RELEASE = "volcano"
NAMESPACE = "volcano-system"
MODULE = "volcano.sh/volcano"
CHART = "installer/helm/chart/volcano"


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Install Volcano until the block ends, without its webhooks, which check Volcano's own kinds."""
    helm = Helm(cluster.kubeconfig)
    chart = str(modules.source(TOOL, MODULE) / CHART)
    settings = {
        **_image("scheduler", loading.load(cluster, engine, "scheduler")),
        **_image("controller", loading.load(cluster, engine, "controller-manager")),
        "basic.image_pull_policy": "Never",
        "custom.admission_enable": False,
    }
    try:
        options = ["--create-namespace", "--wait"]
        helm.install(RELEASE, chart, namespace=NAMESPACE, settings=settings, options=options, upgrade=True)
        yield
    finally:
        helm.uninstall(RELEASE, namespace=NAMESPACE)
        namespaces.delete(cluster.kubeconfig, NAMESPACE)


def _image(component: str, reference: str) -> Settings:
    """Return the values of one program. All have one registry and one tag, that of the folder that pins them."""
    registry, _, image = reference.partition("/")
    name, tag = image.rsplit(":", 1)
    return {
        "basic.image_registry": registry,
        f"basic.{component}_image_name": name,
        "basic.image_tag_version": tag,
    }
