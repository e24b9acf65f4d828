"""Prometheus on a cluster without the Prometheus operator: it scrapes the targets of monitors and evaluates rules.

It also scrapes the targets that kube-prometheus-stack has monitors for: the API server, each node's containers, and
kube-state-metrics where it runs.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kube_state_metrics, pods
from tests.harness.jobs.monitors import ENDPOINTS, scrape_configs

NAME = "prometheus"
PORT = 9090
API = "monitoring.coreos.com/v1"
# What it scrapes on a kind cluster, which has no GPU and no InfiniBand.
EXPORTERS = {
    "cadvisor",
    "controller-runtime",
    "kube-apiserver",
    "prometheus",
    "python-client",
    "trainer",
    "training-operator",
}
READY_SECONDS = 60
EVALUATION = "2s"
# Kubelets cache container metrics for some ten seconds anyway.
KUBELETS = "5s"
CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# Read access to the targets, and to the metrics of the API server and the kubelets.
RULES = [
    {"apiGroups": [""], "resources": ["nodes", "pods", "services"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
    {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
]

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Prometheus:
    """A Prometheus server in a namespace of a cluster."""

    kubeconfig: Path
    namespace: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate an expression now and return its series, each with its labels as `metric`."""
        return self._ask("query", query=expression)

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """Evaluate an expression over a time range, as a Grafana panel does, and return its series."""
        return self._ask("query_range", query=expression, start=start, end=end, step=step)

    def firing(self) -> set[str]:
        """Return the names of the firing alerts."""
        return {series["metric"]["alertname"] for series in self.query('ALERTS{alertstate="firing"}')}

    def _ask(self, what: str, **parameters: str | float) -> list[dict[str, Any]]:
        place = f"/api/v1/namespaces/{self.namespace}/pods/{NAME}:{PORT}/proxy/api/v1/{what}"
        answer = api.kubectl(self.kubeconfig, "get", "--raw", f"{place}?{urlencode(parameters)}")
        found: list[dict[str, Any]] = json.loads(answer)["data"]["result"]
        return found


@contextmanager
def running(
    cluster: Cluster, engine: Engine, namespace: str, alertmanagers: Sequence[str] = ()
) -> Iterator[Prometheus]:
    """Run the server in a namespace, with every monitor and rule that is on the cluster.

    The pod is removed together with the namespace. Alerts go to these addresses.
    """
    connection = api.connect(cluster.kubeconfig)
    monitors = [one.to_dict() for kind in ENDPOINTS for one in api.objects(connection, API, kind)]
    rules = [one.to_dict()["spec"]["groups"] for one in api.objects(connection, API, "PrometheusRule")]
    image = loading.load(cluster, engine, NAME)
    groups = list(itertools.chain(*rules))
    files = {"prometheus.yaml": configuration(monitors, alertmanagers), "rules.yaml": {"groups": groups}}
    api.apply(cluster.kubeconfig, *_access(namespace), *_server(namespace, image, files))
    try:
        wait = ("wait", f"pod/{NAME}", "--namespace", namespace, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")
        api.kubectl(cluster.kubeconfig, *wait)
        yield Prometheus(cluster.kubeconfig, namespace)
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "clusterrole,clusterrolebinding", _role(namespace))


def configuration(monitors: Iterable[Object], alertmanagers: Sequence[str] = ()) -> dict[str, Any]:
    """Return Prometheus' configuration for these monitors and addresses of Alertmanagers."""
    with_token = {
        "scheme": "https",
        "authorization": {"credentials_file": str(CREDENTIALS / "token")},
        # Kubelets use self-signed certificates.
        "tls_config": {"insecure_skip_verify": True},
    }
    api_server = {
        "job_name": "apiserver",
        "scrape_interval": EVALUATION,
        "scrape_timeout": EVALUATION,
        "kubernetes_sd_configs": [{"role": "endpointslice", "namespaces": {"names": ["default"]}}],
        "relabel_configs": [
            {"action": "keep", "source_labels": ["__meta_kubernetes_service_name"], "regex": "kubernetes"}
        ],
    }
    states = {
        "job_name": kube_state_metrics.NAME,
        "honor_labels": True,
        "scrape_interval": EVALUATION,
        "scrape_timeout": EVALUATION,
        "kubernetes_sd_configs": [{"role": "pod"}],
        "relabel_configs": [
            {
                "action": "keep",
                "source_labels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"],
                "regex": kube_state_metrics.NAME,
            }
        ],
    }
    containers = {
        "job_name": "kubelet",
        "scrape_interval": KUBELETS,
        "scrape_timeout": KUBELETS,
        "metrics_path": "/metrics/cadvisor",
        "kubernetes_sd_configs": [{"role": "node"}],
    }
    return {
        "global": {"evaluation_interval": EVALUATION},
        "rule_files": ["rules.yaml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": list(alertmanagers)}]}]},
        "scrape_configs": [
            *(config for monitor in monitors for config in scrape_configs(monitor)),
            {**api_server, **with_token},
            {**containers, **with_token},
            states,
        ],
    }


def _role(namespace: str) -> str:
    return f"{NAME}-{namespace}"


def _access(namespace: str) -> Iterator[Object]:
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}}
    group = "rbac.authorization.k8s.io"
    about = {"apiVersion": f"{group}/v1", "metadata": {"name": _role(namespace)}}
    yield {**about, "kind": "ClusterRole", "rules": RULES}
    yield {
        **about,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": _role(namespace)},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
    }


def _server(namespace: str, image: str, files: Mapping[str, Object]) -> Iterator[Object]:
    metadata = {"name": NAME, "namespace": namespace}
    data = {name: yaml.safe_dump(content) for name, content in files.items()}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    container = {
        "readinessProbe": {"httpGet": {"path": "/-/ready", "port": PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "files", "mountPath": "/etc/prometheus"}, {"name": "data", "mountPath": "/data"}],
    }
    volumes = [{"name": "files", "configMap": {"name": NAME}}, {"name": "data", "emptyDir": {}}]
    command = ["prometheus", "--config.file=/etc/prometheus/prometheus.yaml", "--storage.tsdb.path=/data"]
    spec = pods.restricted(image, command, container=container, volumes=volumes, serviceAccountName=NAME)
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
