"""Kueue, from the chart of its own module, for as long as a test needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.cluster import api, loading, modules
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.cluster.errors import ClusterError

from .helm import Helm, Settings

TOOL = RELEASE = "kueue"
MODULE = "sigs.k8s.io/kueue"
NAMESPACE = "kueue-system"
# What its chart leaves out: the training operator's jobs. The other frameworks would want webhooks of their own.
FRAMEWORKS = ["kubeflow.org/pytorchjob"]
USER = 65532
WEBHOOK_SECONDS = 120


@contextmanager
def installed(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Let Kueue start PyTorchJobs. Every job and queue must be gone at the end: it takes its finalizers off them."""
    chart = modules.source(TOOL, MODULE) / "charts/kueue"
    repository, tag = loading.load(cluster, engine, TOOL).rsplit(":", 1)
    helm = Helm(cluster.kubeconfig)
    try:
        helm.install(
            RELEASE,
            str(chart),
            namespace=NAMESPACE,
            settings=_settings(chart, repository, tag),
            options=["--create-namespace", "--wait"],
            upgrade=True,
        )
        # Ready is the controller, and its webhook a little later.
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


def _settings(chart: Path, repository: str, tag: str) -> Settings:
    defaults = yaml.safe_load((chart / "values.yaml").read_text())
    configuration = yaml.safe_load(defaults["managerConfig"]["controllerManagerConfigYaml"])
    configuration["integrations"] = {"frameworks": FRAMEWORKS}
    manager = "controllerManager.manager"
    return {
        "managerConfig.controllerManagerConfigYaml": json.dumps(configuration),
        f"{manager}.image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
        # Half a processor of the two that a small machine has.
        f"{manager}.resources": {},
        # The published image names a user, ours does not.
        f"{manager}.podSecurityContext.runAsUser": USER,
        "controllerManager.readinessProbe.periodSeconds": 1,
    }
