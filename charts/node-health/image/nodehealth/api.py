"""Requests to the Kubernetes API, for objects as plain JSON.

The client's typed methods would parse each field of a thousand nodes in every round.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

from kubernetes import client, config
from urllib3.exceptions import HTTPError

CONFLICT, NOT_FOUND, TOO_MANY = 409, 404, 429
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TIMEOUT_SECONDS = 15
# Events of nodes, which have no namespace themselves, stand in this one.
EVENTS = "/api/v1/namespaces/default/events"
# An annotation is not a place for a long text.
LONGEST = 1024
Tree = dict[str, Any]


class ApiError(Exception):
    """The API server refuses a request, or does not answer (`status` 0); `args[0]` gives its reason."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


class Api:
    """The API server of the cluster."""

    def __init__(self, api_client: Any) -> None:
        self.client = api_client

    def nodes(self) -> list[Tree]:
        """Returns all nodes, of the server's cache."""
        return list(self.request("GET", "/api/v1/nodes", query={"resourceVersion": "0"}).get("items") or ())

    def node(self, name: str) -> Tree:
        """Returns one node, of the server's cache."""
        return self.request("GET", f"/api/v1/nodes/{quote(name)}", query={"resourceVersion": "0"})

    def patch_node(self, name: str, body: Tree) -> Tree:
        """Changes labels, annotations and taints of a node."""
        return self.request("PATCH", f"/api/v1/nodes/{quote(name)}", body=body, content=MERGE)

    def set_condition(self, name: str, condition: Tree) -> None:
        """Sets one condition in the status of a node, and leaves the others."""
        body = {"status": {"conditions": [condition]}}
        self.request("PATCH", f"/api/v1/nodes/{quote(name)}/status", body=body, content=STRATEGIC)

    def pods(self, node: str, selector: str) -> list[Tree]:
        """Returns the pods on a node that a label selector selects."""
        query = {"fieldSelector": f"spec.nodeName={node}", "labelSelector": selector}
        return list(self.request("GET", "/api/v1/pods", query=query).get("items") or ())

    def evict(self, namespace: str, name: str) -> None:
        """Asks for the eviction of a pod, which its PodDisruptionBudget may refuse (`TOO_MANY`)."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"namespace": namespace, "name": name}}
        self.request("POST", f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}/eviction", body=body)

    def event(self, node: str, kind: str, reason: str, message: str, moment: str) -> None:
        """Records an event of a node; one that is refused is lost, and nothing else."""
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{node}.", "namespace": "default"},
            # The kubelet's events of a node name it as their uid too, by which `kubectl describe` finds them.
            "involvedObject": {"kind": "Node", "name": node, "uid": node},
            "type": kind,
            "reason": reason,
            "message": message[:LONGEST],
            "source": {"component": "trainyard-node-health"},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        try:
            self.request("POST", EVENTS, body=body)
        except ApiError as error:
            print(f"event {reason} of node {node} is lost: {error}", flush=True)

    def request(
        self, method: str, path: str, *, query: dict[str, str] | None = None, body: Any = None, content: str = ""
    ) -> Tree:
        """Returns the answer to a request. Raises `ApiError`."""
        headers = {"Accept": "application/json", "Content-Type": content or "application/json"}
        parts = self.client.param_serialize(
            method, path, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        verb, url, *rest = parts
        if query:
            url = f"{url}?{urlencode(query)}"
        try:
            answer = self.client.call_api(verb, url, *rest, _request_timeout=TIMEOUT_SECONDS)
            answer.read()
        except (HTTPError, OSError) as error:
            raise ApiError(0, f"the API server does not answer: {error}") from error
        except client.ApiException as error:
            raise ApiError(error.status or 0, f"{method} {path}: {_message(error.body) or error.reason}") from error
        if answer.status >= 400:
            raise ApiError(answer.status, f"{method} {path}: {_message(answer.data) or answer.reason}")
        found = _parsed(answer.data)
        return found if isinstance(found, dict) else {}


def connect() -> Api:
    """Returns the API server of the pod's own cluster, or that of the kubeconfig outside of one."""
    try:
        config.load_incluster_config()
    except config.ConfigException:
        config.load_kube_config()
    return Api(client.ApiClient())


def _parsed(data: Any) -> Any:
    try:
        return json.loads(data or b"null")
    except ValueError:
        return None


def _message(data: Any) -> str:
    found = _parsed(data)
    return str(found.get("message") or "") if isinstance(found, dict) else ""
