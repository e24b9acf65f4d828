"""Read-only access to a cluster's API."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from trainyard import DISTRIBUTION

CONNECT_SECONDS = 5
READ_SECONDS = 10
DEFAULT_KUBECONFIG = "~/.kube/config"
OK, UNAUTHORIZED, FORBIDDEN = 200, 401, 403


class ClusterError(Exception):
    """The cluster cannot be reached or used at all; `args[0]` gives the reason and the remedy."""


class RequestRefusedError(Exception):
    """The cluster refuses a single request; `args[0]` is the server's message."""

    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body if isinstance(body, dict) else {}
        super().__init__(f"the server answers {status}: {self.body.get('message') or 'no reason given'}")


class Cluster:
    """A Kubernetes API server, with the credentials of a user."""

    def __init__(self, client: Any) -> None:
        # The client reads kubeconfigs and knows how to authenticate. Its typed methods would refuse unknown objects.
        self._configuration = client.configuration
        self._pool = client.rest_client.pool_manager

    @property
    def address(self) -> str:
        """The server's URL."""
        return str(self._configuration.host).rstrip("/")

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Returns the response to a GET. Raises `RequestRefusedError`; `ClusterError` if no server accepts the user."""
        body = _parsed(self._data(path, query))
        if not isinstance(body, dict):
            raise ClusterError(f"the server at {self.address} is not a Kubernetes API")
        return body

    def text(self, path: str, **query: str | int) -> str:
        """Returns the response to a GET that is no JSON, such as a log. Raises as `get` does."""
        return self._data(path, query).decode(errors="replace")

    def _data(self, path: str, query: dict[str, str | int]) -> bytes:
        import urllib3

        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        try:
            answer = self._pool.request(
                "GET",
                self.address + path,
                fields={name: str(value) for name, value in query.items()},
                headers={"accept": "application/json", **self._authentication()},
                timeout=timeout,
                retries=False,
                redirect=False,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(f"the cluster at {self.address} does not answer: {_reason(error)}") from error
        if answer.status == UNAUTHORIZED:
            raise ClusterError(f"the cluster at {self.address} rejects the credentials: log in again")
        if answer.status != OK:
            raise RequestRefusedError(answer.status, _parsed(answer.data))
        data: bytes = answer.data
        return data

    def version(self) -> str | None:
        """Returns the server's version, such as v1.33.2; None if the user may not read it. Raises `ClusterError`."""
        try:
            found = self.get("/version").get("gitVersion")
        except RequestRefusedError as error:
            if error.status == FORBIDDEN:
                return None
            raise ClusterError(f"the server at {self.address} is not a Kubernetes API: {error}") from error
        return found if isinstance(found, str) else None

    def _authentication(self) -> dict[str, str]:
        # Requested anew for each call: a token may have expired.
        settings = self._configuration.auth_settings().values()
        return {each["key"]: each["value"] for each in settings if each["in"] == "header" and each["value"]}


def connect(kubeconfig: Path | None = None, context: str | None = None) -> Cluster:
    """Returns the cluster of a kubeconfig; inside a pod without one, the pod's own. Raises `ClusterError`."""
    try:
        from kubernetes import client, config
    except ImportError:
        raise ClusterError(
            "the audit needs the Kubernetes client, which is not installed: "
            f"python -m pip install '{DISTRIBUTION}[audit]'"
        ) from None
    location = str(kubeconfig) if kubeconfig is not None else os.environ.get("KUBECONFIG") or DEFAULT_KUBECONFIG
    if not any(Path(part).expanduser().is_file() for part in location.split(os.pathsep)):
        if kubeconfig is None and context is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            return _own_cluster(client, config)
        hint = "" if kubeconfig is not None else "; name one with --kubeconfig, or in the variable KUBECONFIG"
        raise ClusterError(f"there is no kubeconfig {location}{hint}")
    try:
        return Cluster(config.new_client_from_config(location, context, persist_config=False))
    # Any text is parsed here, with credentials in it: the possible errors have no narrower type.
    except Exception as error:
        raise ClusterError(f"the kubeconfig {location} cannot be used: {_reason(error)}") from error


def _own_cluster(client: Any, config: Any) -> Cluster:
    configuration = client.Configuration()
    try:
        config.load_incluster_config(client_configuration=configuration)
    except config.ConfigException as error:
        raise ClusterError(f"this pod's own cluster cannot be reached: {error}") from error
    return Cluster(client.ApiClient(configuration))


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _reason(error: Exception) -> str:
    """Returns the root cause of an error, in one line."""
    cause: Any = error
    while inner := cause.__cause__ or next((part for part in cause.args if isinstance(part, Exception)), None):
        cause = inner
    if isinstance(cause, TimeoutError) or "timed out" in str(cause):
        return "no answer in time"
    words = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(words.split())
