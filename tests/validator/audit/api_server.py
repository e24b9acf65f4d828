"""A fake API server with a few objects: read-only, and with a record of the requested paths."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: here, cluster: {{server: "{address}"}}}}]
users: [{{name: me, user: {{token: mine}}}}]
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
current-context: here
"""
# By API version: plural, kind, and true if its objects are namespaced.
RESOURCES: dict[str, list[tuple[str, str, bool]]] = {
    "v1": [
        ("limitranges", "LimitRange", True),
        ("configmaps", "ConfigMap", True),
        ("secrets", "Secret", True),
        ("pods", "Pod", True),
        ("events", "Event", True),
        ("persistentvolumeclaims", "PersistentVolumeClaim", True),
    ],
    "batch/v1": [("jobs", "Job", True), ("jobs/status", "Job", True), ("cronjobs", "CronJob", True)],
    "kubeflow.org/v1": [
        ("pytorchjobs", "PyTorchJob", True),
        ("tfjobs", "TFJob", True),
        ("mpijobs", "MPIJob", True),
        ("xgboostjobs", "XGBoostJob", True),
        ("paddlejobs", "PaddleJob", True),
        ("jaxjobs", "JAXJob", True),
    ],
    "trainer.kubeflow.org/v1alpha1": [
        ("trainjobs", "TrainJob", True),
        ("trainingruntimes", "TrainingRuntime", True),
        ("clustertrainingruntimes", "ClusterTrainingRuntime", False),
    ],
    "batch.volcano.sh/v1alpha1": [("jobs", "Job", True), ("jobs/status", "Job", True)],
    "leaderworkerset.x-k8s.io/v1": [("leaderworkersets", "LeaderWorkerSet", True)],
    "ray.io/v1": [
        ("rayclusters", "RayCluster", True),
        ("rayjobs", "RayJob", True),
        ("rayservices", "RayService", True),
    ],
    "sagemaker.amazonaws.com/v1": [("hyperpodpytorchjobs", "HyperPodPyTorchJob", True)],
    "workload.serving.volcano.sh/v1alpha1": [("modelservings", "ModelServing", True)],
    "elastic.iml.github.io/v1alpha1": [("elasticjobs", "ElasticJob", True)],
    "workload.codeflare.dev/v1beta2": [("appwrappers", "AppWrapper", True)],
    "jobset.x-k8s.io/v1alpha2": [("jobsets", "JobSet", True)],
    "k8s.cni.cncf.io/v1": [("network-attachment-definitions", "NetworkAttachmentDefinition", True)],
    "nvidia.com/v1": [("clusterpolicies", "ClusterPolicy", False)],
    "nvidia.com/v1alpha1": [("nvidiadrivers", "NVIDIADriver", False)],
    "mellanox.com/v1alpha1": [
        ("nicclusterpolicies", "NicClusterPolicy", False),
        ("nicnodepolicies", "NicNodePolicy", False),
        ("hostdevicenetworks", "HostDeviceNetwork", False),
        ("ipoibnetworks", "IPoIBNetwork", False),
        ("macvlannetworks", "MacvlanNetwork", False),
    ],
    "sriovnetwork.openshift.io/v1": [
        ("sriovnetworknodepolicies", "SriovNetworkNodePolicy", True),
        ("sriovnetworks", "SriovNetwork", True),
        ("sriovibnetworks", "SriovIBNetwork", True),
        ("ovsnetworks", "OVSNetwork", True),
    ],
    "kueue.x-k8s.io/v1beta2": [("workloads", "Workload", True)],
    "kueue.x-k8s.io/v1beta1": [
        ("localqueues", "LocalQueue", True),
        ("clusterqueues", "ClusterQueue", False),
        ("topologies", "Topology", False),
    ],
    "scheduling.volcano.sh/v1beta1": [("podgroups", "PodGroup", True)],
    "scheduling.x-k8s.io/v1alpha1": [("podgroups", "PodGroup", True)],
    "resource.k8s.io/v1": [
        ("resourceclaims", "ResourceClaim", True),
        ("resourceclaimtemplates", "ResourceClaimTemplate", True),
    ],
}


class ApiServer:
    """Serves `objects`, and records the path of every request in `requests`.

    `closed` are plurals that the user may not list or get, `absent` are API versions that are not served. Lists have
    pages of `page` objects; with `expiring` the continue token of a page has always expired. `texts` holds responses
    that are no objects, such as logs, by their paths; `?previous=true` is a part of such a path.
    """

    def __init__(
        self,
        *objects: dict[str, Any],
        closed: tuple[str, ...] = (),
        absent: tuple[str, ...] = (),
        page: int = 1000,
        expiring: bool = False,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self._objects = objects
        self._closed = closed
        self._absent = absent
        self._page = page
        self._expiring = expiring
        self._texts = texts or {}
        self.requests: list[str] = []
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def kubeconfig(self, folder: Path) -> str:
        """Return the path of a kubeconfig for the server."""
        path = folder / "kubeconfig"
        path.write_text(KUBECONFIG.format(address=self.address))
        return str(path)

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any] | str]:
        """Return status and body of the response to a GET."""
        if path == "/version":
            return 200, {"gitVersion": "v1.33.2"}
        _, root, *steps = path.split("/")
        version = "/".join([steps.pop(0) for _ in range(1 if root == "api" else 2)])
        if version not in RESOURCES or version in self._absent:
            return 404, _status("the server could not find the requested resource")
        if not steps:
            entries = [{"name": n, "kind": k, "namespaced": inside} for n, k, inside in RESOURCES[version]]
            return 200, {"kind": "APIResourceList", "resources": entries}
        namespace = steps[1] if steps[0] == "namespaces" else ""
        plural, *name = steps[2:] if namespace else steps
        if plural in self._closed:
            return 403, _status(f'{plural} is forbidden: User "me" cannot do this')
        if len(name) > 1:
            return self._subresource(path, "/".join((plural, name[1])), query)
        kind = next((kind for known, kind, _ in RESOURCES[version] if known == plural), "")
        found = [tree for tree in self._objects if _is(tree, version, kind, namespace, *name) and _has(tree, query)]
        if name:
            return (200, found[0]) if found else (404, _status("not found"))
        return self._listed(found, query)

    def _subresource(self, path: str, resource: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any] | str]:
        if resource in self._closed:
            return 403, _status(f'{resource} is forbidden: User "me" cannot do this')
        text = self._texts.get(f"{path}?previous=true" if "previous" in query else path)
        return (404, _status("not found")) if text is None else (200, text)

    def _listed(self, found: list[dict[str, Any]], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        token = query.get("continue", [""])[0]
        if token and self._expiring and not token.endswith("-new"):
            return 410, {**_status("too old"), "metadata": {"continue": f"{token}-new"}}
        start = int(token.removesuffix("-new") or 0)
        rest = str(start + self._page) if start + self._page < len(found) else ""
        # As in a list of a built-in kind, items have no kind and no API version.
        items = [{key: value for key, value in tree.items() if key not in ("kind", "apiVersion")} for tree in found]
        return 200, {"metadata": {"continue": rest}, "items": items[start : start + self._page]}


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[ApiServer]

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.api.requests.append(parts.path)
        accepted = self.headers.get("authorization") == "Bearer mine"
        status, body = self.api.answer(parts.path, parse_qs(parts.query)) if accepted else (401, _status("who?"))
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002


def _is(tree: dict[str, Any], version: str, kind: str, namespace: str, name: str = "") -> bool:
    metadata = tree["metadata"]
    return (
        (tree["apiVersion"], tree["kind"]) == (version, kind)
        and namespace in ("", metadata.get("namespace", ""))
        and name in ("", metadata["name"])
    )


def _has(tree: dict[str, Any], query: dict[str, list[str]]) -> bool:
    name = query.get("fieldSelector", [""])[0].removeprefix("metadata.name=")
    label, _, value = query.get("labelSelector", [""])[0].partition("=")
    return name in ("", tree["metadata"]["name"]) and (
        not label or tree["metadata"].get("labels", {}).get(label) == value
    )


def _status(message: str) -> dict[str, Any]:
    return {"kind": "Status", "message": message}
