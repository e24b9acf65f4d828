"""Kueue, installed from its module's chart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api, loading, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import Helm, Settings

TOOL = RELEASE = "kueue"
MODULE = "sigs.k8s.io/kueue"
NAMESPACE = "kueue-system"
# The jobs that the tests queue. Kueue's chart leaves out those of the training operator. A kind that the cluster does
# not serve is ignored until its CRD appears.
FRAMEWORKS = ["kubeflow.org/pytorchjob", "trainer.kubeflow.org/trainjob"]
USER = 65532
WEBHOOK_SECONDS = 120
# The value of the chart with the configuration of its manager.
CONFIGURATION = "managerConfig.controllerManagerConfigYaml"


def chart() -> Path:
    """Return the chart of Kueue's module."""
    return modules.source(TOOL, MODULE) / "charts/kueue"


def configuration() -> dict[str, Any]:
    """Return the chart's own configuration of the manager, for the jobs of `FRAMEWORKS`."""
    values = yaml.safe_load((chart() / "values.yaml").read_text())
    for key in CONFIGURATION.split("."):
        values = values[key]
    found: dict[str, Any] = yaml.safe_load(values)
    found["integrations"] = {"frameworks": FRAMEWORKS}
    return found


@contextmanager
def installed(cluster: Cluster, engine: Engine, *namespaces: str) -> Iterator[None]:
    """Install Kueue for the jobs of these namespaces until the block ends.

    All jobs and queues must be gone by then: Kueue removes their finalizers.
    """
    repository, tag = loading.load(cluster, engine, TOOL).rsplit(":", 1)
    helm = Helm(cluster.kubeconfig)
    try:
        helm.install(
            RELEASE,
            str(chart()),
            namespace=NAMESPACE,
            settings=_settings(repository, tag, namespaces),
            options=["--create-namespace", "--wait"],
            upgrade=True,
        )
        # The Deployment is Ready shortly before its webhook answers.
        api.wait_until(lambda: _answers(cluster), what="Kueue's webhook to answer", seconds=WEBHOOK_SECONDS)
        yield
    finally:
        helm.uninstall(RELEASE, namespace=NAMESPACE)


def _answers(cluster: Cluster) -> bool:
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "asked"}}
    command = ["create", "--dry-run=server", "--filename=-"]
    try:
        api.kubectl(cluster.kubeconfig, *command, stdin=json.dumps(flavor))
    except ClusterError:
        return False
    return True


def _settings(repository: str, tag: str, namespaces: Sequence[str]) -> Settings:
    settings = configuration()
    # The webhooks would refuse the jobs of other tests until they answer.
    named = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces}
    settings["managedJobsNamespaceSelector"] = {"matchExpressions": [named]}
    manager = "controllerManager.manager"
    return {
        CONFIGURATION: json.dumps(settings),
        f"{manager}.image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
        # The defaults request half a CPU, and a small machine has two.
        f"{manager}.resources": {},
        # Our image sets no user; the published one does.
        f"{manager}.podSecurityContext.runAsUser": USER,
        "controllerManager.readinessProbe.periodSeconds": 1,
    }
