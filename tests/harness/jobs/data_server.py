"""A pod that serves data by HTTP and git, and logs every request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import pods
from tests.harness.jobs.programs import serve

NAME = "data-server"
PROGRAM = Path(serve.__file__)
READY_SECONDS = 60


@dataclass(frozen=True)
class DataServer:
    """The server in a namespace of a cluster; clients can use its `image` too, which has python3 and git."""

    cluster: Cluster
    namespace: str
    image: str

    @property
    def address(self) -> str:
        """The base URL inside the cluster."""
        return f"http://{NAME}.{self.namespace}:{serve.PORT}"

    def requests(self) -> list[str]:
        """Return all requests so far: method, path and range."""
        return api.kubectl(self.cluster.kubeconfig, "logs", NAME, "--namespace", self.namespace).splitlines()


@contextmanager
def running(cluster: Cluster, engine: Engine, namespace: str) -> Iterator[DataServer]:
    """Run the server until the block ends."""
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
