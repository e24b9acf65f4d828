"""Requests to a cluster's Kubernetes API: wait for a condition, apply a manifest, read a log."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from kubernetes import config
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import DynamicApiError, NotFoundError
from tenacity import RetryError, Retrying, retry_if_exception_type, retry_if_result, stop_after_delay, wait_fixed
from urllib3.exceptions import HTTPError

from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.tools import binary

Result = TypeVar("Result")
POLL_SECONDS = 0.5
REQUEST_SECONDS = 5
# Raised by a request while the API server is down or still starting.
NO_ANSWER = (ApiException, DynamicApiError, HTTPError, OSError)


def connect(kubeconfig: Path) -> Any:
    """A dynamic client for the cluster that this kubeconfig names; it touches no global configuration."""
    return DynamicClient(config.new_client_from_config(str(kubeconfig)))


def objects(connection: Any, api_version: str, kind: str, **selection: str) -> list[Any]:
    """All objects of a kind, optionally by `namespace`, `label_selector` or `field_selector`."""
    resource = connection.resources.get(api_version=api_version, kind=kind)
    return list(resource.get(_request_timeout=REQUEST_SECONDS, **selection).items)


def find(connection: Any, api_version: str, kind: str, name: str, namespace: str | None = None) -> Any | None:
    """One object by name, or None when there is none; its fields are attributes, absent ones are None."""
    resource = connection.resources.get(api_version=api_version, kind=kind)
    try:
        return resource.get(name=name, namespace=namespace, _request_timeout=REQUEST_SECONDS)
    except NotFoundError:
        return None


def wait_until(condition: Callable[[], Result | None], *, what: str, seconds: float) -> Result:
    """Poll until `condition` returns something true, and return it.

    An API that does not answer, or answers with an error, counts as "not yet". Raises `ClusterError` naming `what`
    after so many `seconds`.
    """
    attempts = Retrying(
        stop=stop_after_delay(seconds),
        wait=wait_fixed(POLL_SECONDS),
        retry=retry_if_result(lambda value: not value) | retry_if_exception_type(NO_ANSWER),
    )
    try:
        found = attempts(condition)
    except RetryError as error:
        cause = error.last_attempt.exception()
        reason = f" ({cause})" if cause is not None else ""
        raise ClusterError(f"timed out after {seconds:.0f} s waiting for {what}{reason}") from cause
    assert found is not None
    return found


def nodes_ready(connection: Any, count: int) -> bool:
    """Returns true if there are exactly this many nodes and all of them are Ready."""
    nodes = objects(connection, "v1", "Node")
    return len(nodes) == count and all(
        condition.status == "True"
        for node in nodes
        for condition in node.status.conditions
        if condition.type == "Ready"
    )


def lease_renewed_since(connection: Any, node: str, moment: datetime) -> bool:
    """Returns true if a node's kubelet has renewed its Lease since `moment`; it does so every 10 s."""
    lease = find(connection, "coordination.k8s.io/v1", "Lease", node, "kube-node-lease")
    return lease is not None and datetime.fromisoformat(lease.spec.renewTime) > moment


def is_ready(kubeconfig: Path, count: int) -> bool:
    """Returns true if the API answers and this many nodes are Ready."""
    try:
        return nodes_ready(connect(kubeconfig), count)
    except NO_ANSWER:
        return False


def deployment_available(connection: Any, namespace: str, name: str) -> bool:
    """Returns true if all replicas that a Deployment wants are up to date and available."""
    found = find(connection, "apps/v1", "Deployment", name, namespace)
    if found is None or (found.status.observedGeneration or 0) < found.metadata.generation:
        return False
    return bool(found.status.updatedReplicas == found.status.availableReplicas == found.spec.replicas)


def apply(kubeconfig: Path, *objects: Mapping[str, object]) -> None:
    """Create these objects or update them; raise `ClusterError` when the API server refuses them."""
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    kubectl(kubeconfig, "apply", "-f", "-", stdin=json.dumps(document))


def kubectl(kubeconfig: Path, *arguments: str, stdin: str = "") -> str:
    """Run kubectl and return its output; raise `ClusterError` with its message when it fails."""
    finished = subprocess.run(
        [binary("kubectl"), "--kubeconfig", str(kubeconfig), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise ClusterError(f"`kubectl {' '.join(arguments)}` failed: {finished.stderr.strip()}")
    return finished.stdout
