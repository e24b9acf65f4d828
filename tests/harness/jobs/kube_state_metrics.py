"""kube-state-metrics on a cluster: the states of pods, nodes and jobs as metrics, as kube-prometheus-stack has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import pods

NAME = "kube-state-metrics"
PORT = 8080
READY_SECONDS = 60
# The metrics in schemas/documented/metrics are of these.
RESOURCES = {"": ["pods", "nodes"], "batch": ["jobs"]}

Object = Mapping[str, Any]


@contextmanager
def running(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[None]:
    """Run it in a namespace; the pod is removed together with the namespace."""
    image = loading.load(cluster, engine, NAME)
    api.apply(cluster.kubeconfig, *_access(namespace), _server(namespace, image))
    try:
        wait = ("wait", f"pod/{NAME}", "--namespace", namespace, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")
        api.kubectl(cluster.kubeconfig, *wait)
        yield
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "clusterrole,clusterrolebinding", f"{NAME}-{namespace}")


def _access(namespace: str) -> Iterator[Object]:
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}}
    group = "rbac.authorization.k8s.io"
    about = {"apiVersion": f"{group}/v1", "metadata": {"name": f"{NAME}-{namespace}"}}
    rules = [{"apiGroups": [key], "resources": names, "verbs": ["list", "watch"]} for key, names in RESOURCES.items()]
    yield {**about, "kind": "ClusterRole", "rules": rules}
    yield {
        **about,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": f"{NAME}-{namespace}"},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }


def _server(namespace: str, image: str) -> Object:
    metadata = {"name": NAME, "namespace": namespace, "labels": {"app.kubernetes.io/name": NAME}}
    container = {
        "ports": [{"name": "http", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/livez", "port": PORT}, "periodSeconds": 1},
    }
    names = ",".join(name for resources in RESOURCES.values() for name in resources)
    command = [NAME, f"--port={PORT}", f"--resources={names}"]
    spec = pods.restricted(image, command, container=container, serviceAccountName=NAME)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
