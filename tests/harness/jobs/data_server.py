"""A pod that has data to fetch, by HTTP and by git, and that tells what it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import api, loading
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine

from . import pods
from .programs import serve

NAME = "data-server"
PROGRAM = Path(serve.__file__)
READY_SECONDS = 60


@dataclass(frozen=True)
class DataServer:
    """The server in a namespace of a cluster; `image` has python3 and git, for those who fetch as well."""

    cluster: Cluster
    namespace: str
    image: str

    @property
    def address(self) -> str:
        """Where pods of the cluster reach it."""
        return f"http://{NAME}.{self.namespace}:{serve.PORT}"

    def asked(self) -> list[str]:
        """Every request so far: method, path and range."""
        return api.kubectl(self.cluster.kubeconfig, "logs", NAME, "--namespace", self.namespace).splitlines()


@contextmanager
def running(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[DataServer]:
    """Let the server run; its namespace takes it away."""
    image = loading.load(cluster, engine, "fetcher")
    api.apply(cluster.kubeconfig, *_objects(namespace, image))
    wait = ("wait", f"pod/{NAME}", "--namespace", namespace, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")
    api.kubectl(cluster.kubeconfig, *wait)
    try:
        yield DataServer(cluster, namespace, image)
    finally:
        command = ["delete", "pod,service,configmap", NAME, "--namespace", namespace, "--grace-period=1"]
        api.kubectl(cluster.kubeconfig, *command)


def _objects(namespace: str, image: str) -> Iterator[dict[str, object]]:
    labels = {"app": NAME}
    metadata = {"name": NAME, "namespace": namespace, "labels": labels}
    ports = [{"port": serve.PORT}]
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"serve.py": PROGRAM.read_text()},
    }
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, "ports": ports}}
    container = {
        "readinessProbe": {"tcpSocket": {"port": serve.PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "program", "mountPath": "/program"}, {"name": "git", "mountPath": str(serve.ROOT)}],
    }
    volumes = [{"name": "program", "configMap": {"name": NAME}}, {"name": "git", "emptyDir": {}}]
    spec = pods.restricted(image, ["python3", "/program/serve.py"], container=container, volumes=volumes)
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
