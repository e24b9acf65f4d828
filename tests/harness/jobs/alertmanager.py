"""Alertmanager on a cluster, with a receiver beside it that records every notification."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import pods
from tests.harness.jobs.programs import receive

NAME = "alertmanager"
PORT = 9093
READY_SECONDS = 60
FOLDER = "/etc/alertmanager"


@dataclass(frozen=True)
class Alertmanager:
    """The server in a namespace of a cluster."""

    kubeconfig: Path
    namespace: str

    @property
    def address(self) -> str:
        """Host and port inside the cluster."""
        return f"{NAME}.{self.namespace}:{PORT}"

    def received(self) -> list[tuple[str, dict[str, Any]]]:
        """Return all notifications so far, each with the name of the receiver that the routes chose."""
        command = ("logs", NAME, "--container=receiver", "--namespace", self.namespace)
        lines = (line.partition(" ") for line in api.kubectl(self.kubeconfig, *command).splitlines())
        return [(path.strip("/"), json.loads(document)) for path, _, document in lines]

    def alerts(self, receiver: str, status: str) -> dict[str, dict[str, Any]]:
        """Return the alerts that a receiver got as `firing` or `resolved`, the last one of each name."""
        found = (one for name, sent in self.received() if name == receiver for one in sent["alerts"])
        return {one["labels"]["alertname"]: one for one in found if one["status"] == status}


@contextmanager
def running(
    cluster: Cluster, engine: Engine, namespace: str, configuration: Mapping[str, Any]
) -> Iterator[Alertmanager]:
    """Run the server with the routes of a configuration; the pod is removed together with the namespace.

    Each of its receivers becomes the recording one. The server waits for one second where it usually waits for minutes.
    """
    image = loading.load(cluster, engine, NAME)
    api.apply(cluster.kubeconfig, *_objects(namespace, image, _recorded(configuration)))
    wait = ("wait", f"pod/{NAME}", "--namespace", namespace, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")
    api.kubectl(cluster.kubeconfig, *wait)
    yield Alertmanager(cluster.kubeconfig, namespace)


def _recorded(configuration: Mapping[str, Any]) -> dict[str, Any]:
    place = f"http://127.0.0.1:{receive.PORT}"
    names = [receiver["name"] for receiver in configuration["receivers"]]
    return {
        **configuration,
        "route": {**configuration["route"], "group_wait": "1s", "group_interval": "1s"},
        "receivers": [{"name": name, "webhook_configs": [{"url": f"{place}/{name}"}]} for name in names],
    }


def _objects(namespace: str, image: str, configuration: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    labels = {"app": NAME}
    metadata = {"name": NAME, "namespace": namespace, "labels": labels}
    program = Path(receive.__file__)
    data = {"alertmanager.yaml": yaml.safe_dump(configuration), program.name: program.read_text()}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    ports = [{"port": PORT}]
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, "ports": ports}}
    mounts = {"volumeMounts": [{"name": "files", "mountPath": FOLDER}, {"name": "data", "mountPath": "/data"}]}
    server = {
        "name": "server",
        "readinessProbe": {"httpGet": {"path": "/-/ready", "port": PORT}, "periodSeconds": 1},
        **mounts,
    }
    command = [
        "prometheus-alertmanager",
        f"--config.file={FOLDER}/alertmanager.yaml",
        "--storage.path=/data",
        # Without a cluster of Alertmanagers, a notification waits for none of them.
        "--cluster.listen-address=",
    ]
    receiver = {"name": "receiver", **mounts}
    spec = pods.restricted(image, command, container=server)
    spec["containers"] = [
        *_containers(spec),
        *_containers(pods.restricted(image, ["python3", f"{FOLDER}/{program.name}"], container=receiver)),
    ]
    spec["volumes"] = [{"name": "files", "configMap": {"name": NAME}}, {"name": "data", "emptyDir": {}}]
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _containers(spec: Mapping[str, object]) -> list[object]:
    found = spec["containers"]
    assert isinstance(found, list)
    return found
