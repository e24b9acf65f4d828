"""A small API server with nodes and pods, which keeps what is written to it as the real one does.

Patches of nodes are merged (RFC 7386), and refused if they name another version than the current one. A patch of a
status merges its conditions by their type. An eviction removes the pod, or is refused for pods in `guarded`.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from kubernetes import client

from nodehealth.api import Api

Tree = dict[str, Any]


class ApiServer:
    """Serves `nodes` by name and `pods` by `namespace/name`, and records `events` and the methods with their paths."""

    def __init__(self) -> None:
        self.nodes: dict[str, Tree] = {}
        self.pods: dict[str, Tree] = {}
        self.guarded: set[str] = set()
        self.events: list[tuple[str, str]] = []
        self.requests: list[str] = []
        self.broken = False
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def client(self) -> Api:
        """Return a client of this server."""
        address = f"http://127.0.0.1:{self._server.server_port}"
        return Api(client.ApiClient(client.Configuration(host=address)))

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def add_node(self, name: str, status: str | None = None, **condition: str) -> None:
        """Add a node, with its condition if `status` is given."""
        conditions = [{"type": "Ready", "status": "True"}]
        if status is not None:
            conditions.append({"type": "TrainyardHealthy", "status": status, **condition})
        metadata = {"name": name, "resourceVersion": "1", "labels": {}, "annotations": {}}
        self.nodes[name] = {"metadata": metadata, "spec": {}, "status": {"conditions": conditions}}

    def add_pod(self, place: str, node: str, labels: dict[str, str], owner: str = "PyTorchJob") -> None:
        """Add a running pod."""
        namespace, name = place.split("/")
        metadata = {"namespace": namespace, "name": name, "labels": labels, "ownerReferences": [{"kind": owner}]}
        self.pods[place] = {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": "Running"}}

    def merge(self, name: str, patch: Tree) -> int:
        """Merge a patch into a node, and return the status of the answer."""
        node = self.nodes[name]
        version = patch.get("metadata", {}).pop("resourceVersion", node["metadata"]["resourceVersion"])
        if version != node["metadata"]["resourceVersion"]:
            return 409
        _merge(node, patch)
        node["metadata"]["resourceVersion"] = str(int(version) + 1)
        return 200

    def set_conditions(self, name: str, patch: Tree) -> int:
        """Merge conditions into the status of a node."""
        conditions = self.nodes[name]["status"]["conditions"]
        for new in patch["status"]["conditions"]:
            conditions[:] = [one for one in conditions if one["type"] != new["type"]] + [new]
        return 200

    def selected(self, query: dict[str, list[str]]) -> list[Tree]:
        """Return the pods on the node and with the label of a query."""
        (field,) = query["fieldSelector"]
        (label,) = query["labelSelector"]
        node = field.removeprefix("spec.nodeName=")
        on_node = [pod for pod in self.pods.values() if pod["spec"]["nodeName"] == node]
        return [pod for pod in on_node if label in pod["metadata"]["labels"]]


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[ApiServer]

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer(None)

    def do_PATCH(self) -> None:
        """Answer a PATCH."""
        self._answer(self._body())

    def do_POST(self) -> None:
        """Answer a POST."""
        self._answer(self._body())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, body: Any) -> None:
        url = urlsplit(self.path)
        self.api.requests.append(f"{self.command} {url.path}")
        status, found = (
            (500, {"message": "etcd is down"}) if self.api.broken else self._route(url.path, url.query, body)
        )
        data = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _route(self, path: str, query: str, body: Any) -> tuple[int, Tree]:
        match path.strip("/").split("/")[2:]:
            case ["nodes"]:
                return 200, {"items": list(self.api.nodes.values())}
            case ["pods"]:
                return 200, {"items": self.api.selected(parse_qs(query))}
            case ["nodes", name] if name in self.api.nodes:
                status = self.api.merge(name, body) if body is not None else 200
                return status, self.api.nodes[name]
            case ["nodes", name, "status"] if name in self.api.nodes:
                assert self.headers["content-type"] == "application/strategic-merge-patch+json"
                return self.api.set_conditions(name, body), {}
            case ["namespaces", "default", "events"]:
                self.api.events.append((body["reason"], body["message"]))
                return 201, body
            case ["namespaces", namespace, "pods", name, "eviction"]:
                place = f"{namespace}/{name}"
                if place in self.api.guarded:
                    return 429, {"message": "Cannot evict pod as it would violate the pod's disruption budget."}
                return (201, {}) if self.api.pods.pop(place, None) else (404, {"message": "not found"})
        return 404, {"message": f"{path} not found"}


def _merge(tree: Tree, patch: Tree) -> None:
    for key, value in patch.items():
        if value is None:
            tree.pop(key, None)
        elif isinstance(value, dict):
            _merge(tree.setdefault(key, {}), value)
        else:
            tree[key] = value
