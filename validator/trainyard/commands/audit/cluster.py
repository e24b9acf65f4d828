"""Read-only access to a cluster's API."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from trainyard import DISTRIBUTION
from trainyard.document.lookup import items, text

_Input = TypeVar("_Input")
_Output = TypeVar("_Output")
CONNECT_SECONDS = 5
READ_SECONDS = 10
PAGE = 250
DEFAULT_KUBECONFIG = "~/.kube/config"
OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
# To one server at a time, for the reads of one run.
REQUESTS = 8
OK, UNAUTHORIZED, FORBIDDEN, MISSING, GONE = 200, 401, 403, 404, 410


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
        body = _parsed(self._request(path, query).data)
        if not isinstance(body, dict):
            raise ClusterError(f"the server at {self.address} is not a Kubernetes API")
        return body

    def objects(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Yields the objects of a list, page by page. Raises as `get` does."""
        token = ""
        while True:
            more = {"continue": token} if token else {}
            try:
                page = self.get(path, limit=PAGE, **query, **more)
            except RequestRefusedError as error:
                # The list's state has expired on the server, which offers to continue from a newer one.
                if error.status != GONE or not text(error.body, "metadata", "continue"):
                    raise
                page = error.body
            yield from (tree for tree in items(page, "items") if isinstance(tree, dict))
            token = text(page, "metadata", "continue")
            if not token:
                return

    def lines(self, path: str, *, endless: bool = False, **query: str | int) -> Iterator[str]:
        """Yields the lines of a response, such as a log; `endless` waits for each line as long as it takes.

        The request is sent at once. Raises as `get` does, also if the response ends early.
        """
        return self._lines(self._request(path, query, stream=True, endless=endless))

    def _lines(self, answer: Any) -> Iterator[str]:
        import urllib3

        rest = b""
        try:
            for data in answer.stream(1 << 16):
                *whole, rest = (rest + data).split(b"\n")
                yield from (line.decode(errors="replace") for line in whole)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(f"the response of {self.address} ended early: {_reason(error)}") from error
        finally:
            answer.release_conn()
        if rest:
            yield rest.decode(errors="replace")

    def _request(self, path: str, query: dict[str, str | int], *, stream: bool = False, endless: bool = False) -> Any:
        import urllib3

        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=None if endless else READ_SECONDS)
        try:
            answer = self._pool.request(
                "GET",
                self.address + path,
                fields={name: str(value) for name, value in query.items()},
                # A log is no JSON.
                headers={"accept": "application/json, */*", **self._authentication()},
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            if not stream or answer.status != OK:
                # Reads all of it, within the timeout for each part.
                answer.data  # noqa: B018
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(f"the cluster at {self.address} does not answer: {_reason(error)}") from error
        if answer.status == UNAUTHORIZED:
            raise ClusterError(f"the cluster at {self.address} rejects the credentials: log in again")
        if answer.status != OK:
            raise RequestRefusedError(answer.status, _parsed(answer.data))
        return answer

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


def in_parallel(function: Callable[[_Input], _Output], inputs: Iterable[_Input]) -> list[_Output]:
    """Returns what a function that reads from a cluster returns for each input, in their order."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(function, inputs))


def connect(kubeconfig: Path | None = None, context: str | None = None, *, extra: str = "audit") -> Cluster:
    """Returns the cluster of a kubeconfig; inside a pod without one, the pod's own. Raises `ClusterError`.

    `extra` is the optional part of the distribution that brings the client for this command.
    """
    try:
        from kubernetes import client, config
    except ImportError:
        raise ClusterError(
            f"the {extra} needs the Kubernetes client, which is not installed: "
            f"python -m pip install '{DISTRIBUTION}[{extra}]'"
        ) from None
    location = _location(kubeconfig)
    if not any(Path(part).expanduser().is_file() for part in location.split(os.pathsep)):
        if kubeconfig is None and context is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            return _own_cluster(client, config)
        hint = "" if kubeconfig is not None else "; name one with --kubeconfig, or in the variable KUBECONFIG"
        raise ClusterError(f"there is no kubeconfig {location}{hint}")
    try:
        return Cluster(config.new_client_from_config(location, context, persist_config=False))
    # Any text is parsed here, with credentials in it: the possible errors have no narrower type.
    except Exception as error:
        known = _contexts(location)
        if context is not None and known and context not in known:
            names = ", ".join(f"`{name}`" for name in known)
            raise ClusterError(f"the kubeconfig {location} has no context `{context}`; it has {names}") from None
        raise ClusterError(f"the kubeconfig {location} cannot be used: {_reason(error)}") from error


def _contexts(location: str) -> list[str]:
    """Returns the names of the contexts, or none if the file cannot be read."""
    from kubernetes import config

    try:
        contexts, _ = config.list_kube_config_contexts(location)
    except Exception:
        return []
    return [text(one, "name") for one in contexts]


def default_namespace(kubeconfig: Path | None = None, context: str | None = None) -> str:
    """Returns the namespace of the context as kubectl does: that of the kubeconfig or the pod, or `default`."""
    from kubernetes import config

    try:
        contexts, active = config.list_kube_config_contexts(_location(kubeconfig))
    # As in `connect`; without a kubeconfig this is a pod.
    except Exception:
        try:
            return OWN_NAMESPACE.read_text().strip() or "default"
        except OSError:
            return "default"
    named = next((one for one in contexts if one["name"] == context), active if context is None else {})
    return text(named, "context", "namespace") or "default"


def _location(kubeconfig: Path | None) -> str:
    return str(kubeconfig) if kubeconfig is not None else os.environ.get("KUBECONFIG") or DEFAULT_KUBECONFIG


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
