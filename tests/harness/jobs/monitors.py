"""The Prometheus configuration that the Prometheus operator generates from a PodMonitor or a ServiceMonitor.

It follows the operator's generator for the fields that our charts use, and rejects other fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]
Rule = dict[str, Any]

ENDPOINTS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}
KNOWN_SPEC = {"namespaceSelector", "selector", "podTargetLabels", *ENDPOINTS.values()}
KNOWN_ENDPOINT = {"port", "interval", "honorLabels", "relabelings"}


def scrape_configs(monitor: Object) -> Iterator[dict[str, Any]]:
    """Yield one scrape configuration for each endpoint of a monitor."""
    kind, spec = monitor["kind"], monitor["spec"]
    _require_known(spec, KNOWN_SPEC)
    own = monitor["metadata"]["namespace"]
    where = spec.get("namespaceSelector", {})
    names = [] if where.get("any") else where.get("matchNames", [own])
    discovery = {"role": "pod" if kind == "PodMonitor" else "endpointslice", "namespaces": {"names": names}}
    for number, endpoint in enumerate(spec[ENDPOINTS[kind]]):
        _require_known(endpoint, KNOWN_ENDPOINT)
        yield {
            "job_name": f"{kind}/{own}/{monitor['metadata']['name']}/{number}",
            "honor_labels": endpoint.get("honorLabels", False),
            "scrape_interval": endpoint["interval"],
            "scrape_timeout": endpoint["interval"],
            "kubernetes_sd_configs": [discovery],
            "relabel_configs": [
                *_chosen(kind, spec["selector"], endpoint["port"]),
                *_labels(kind, monitor["metadata"], endpoint["port"]),
                *(_copy(_pod_label(label), _name(label)) for label in spec.get("podTargetLabels", [])),
                *map(_snake_case, endpoint.get("relabelings", [])),
            ],
        }


def _chosen(kind: str, selector: Object, port: str) -> Iterator[Rule]:
    """Yield the relabelings that select the monitor's targets among those that Kubernetes lists."""
    of = "pod" if kind == "PodMonitor" else "service"
    if of == "pod":
        yield {"action": "drop", "source_labels": ["__meta_kubernetes_pod_phase"], "regex": "(Failed|Succeeded)"}
    for label, value in selector.get("matchLabels", {}).items():
        yield _keep(f"__meta_kubernetes_{of}_label_{_name(label)}", re.escape(value))
    for expression in selector.get("matchExpressions", []):
        if expression["operator"] == "Exists":
            yield _keep(f"__meta_kubernetes_{of}_labelpresent_{_name(expression['key'])}", "true")
        elif expression["operator"] == "In":
            values = "|".join(map(re.escape, expression["values"]))
            yield _keep(f"__meta_kubernetes_{of}_label_{_name(expression['key'])}", values)
        else:
            raise ValueError(f"selector operator {expression['operator']} is not supported")
    source = "pod_container_port_name" if of == "pod" else "endpointslice_port_name"
    yield _keep(f"__meta_kubernetes_{source}", re.escape(port))


def _labels(kind: str, metadata: Object, port: str) -> Iterator[Rule]:
    """Yield the labels that every target gets."""
    yield _copy("__meta_kubernetes_namespace", "namespace")
    yield _copy("__meta_kubernetes_pod_name", "pod")
    yield _copy("__meta_kubernetes_pod_container_name", "container")
    yield _copy("__meta_kubernetes_service_name", "service")
    if kind == "PodMonitor":
        yield {"target_label": "job", "replacement": f"{metadata['namespace']}/{metadata['name']}"}
    else:
        yield _copy("__meta_kubernetes_service_name", "job")
    yield {"target_label": "endpoint", "replacement": port}


def _require_known(given: Object, known: set[str]) -> None:
    if unknown := set(given) - known:
        raise ValueError(f"a monitor's {', '.join(sorted(unknown))} is not supported")


def _name(label: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", label)


def _pod_label(label: str) -> str:
    return f"__meta_kubernetes_pod_label_{_name(label)}"


def _keep(source: str, regex: str) -> Rule:
    return {"action": "keep", "source_labels": [source], "regex": regex}


def _copy(source: str, target: str) -> Rule:
    return {"source_labels": [source], "regex": "(.+)", "target_label": target}


def _snake_case(rule: Object) -> Rule:
    return {re.sub("([A-Z])", r"_\1", key).lower(): value for key, value in rule.items()}
