"""`portLevelMtls` of a PeerAuthentication names a port of the Service, but it applies to ports of the pods.

Istio compares the number with the port on which the container listens. `8000` of a Service that sends its requests to
port 80 matches nothing: the pods keep the mode of the mesh, so `STRICT` refuses no plain request, and `DISABLE` opens
no port.

The rule applies if the pods and the Service are in the files: the number is a port of the Service alone, and the pods
have the port to which it leads.

Write the port of the container.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.analysis.pods.placement import has_labels
from trainyard.analysis.pods.selected import selected_pods
from trainyard.document.lookup import decimal, integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project, Resource

KIND = "PeerAuthentication"


@rule(
    code="NT037",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "istio.io/latest/docs/reference/config/security/peer_authentication: portLevelMtls, port specific settings",
        "github.com/istio/istio issue 49098",
    ),
    needs=(KIND,),
)
def mtls_of_service_port(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report ports of Services."""
    spec = mapping(resource.tree, "spec")
    labels = mapping(spec, "selector", "matchLabels")
    if resource.kind != KIND or not labels:
        return
    pods = selected_pods(context.project, resource.namespace, labels)
    ports = {number for pod in pods for number in _ports(pod).values()}
    for key in mapping(spec, "portLevelMtls"):
        number = decimal(str(key))
        if number is None or number in ports:
            continue
        target = _target(context.project, resource.namespace, pods, number)
        if target in ports:
            yield Problem(
                resource.at.child("spec", "portLevelMtls", key).key(),
                f"{number} is the port of the Service, and Istio compares with the port of the pods, {target}: the "
                "mode applies to nothing",
                f"write {target}",
            )


def _ports(pod: Pod) -> dict[str, int]:
    """Returns the ports of the containers by their names, or by their numbers."""
    found = {}
    for container in (*pod.containers, *pod.init_containers):
        for port in items(container.tree, "ports"):
            number = integer(port, "containerPort")
            if number is not None:
                found[str(mapping(port).get("name") or number)] = number
    return found


def _target(project: Project, namespace: str, pods: Sequence[Pod], number: int) -> int | None:
    """Returns the port of the pods to which a Service leads this port of its own; None if none does."""
    for selector, target in _targets.of(project).get((namespace, number), ()):
        chosen = [pod for pod in pods if has_labels(pod.labels, selector)]
        if chosen:
            return decimal(str(target)) or _ports(chosen[0]).get(str(target))
    return None


def _find_targets(project: Project) -> dict[tuple[str, int], list[tuple[dict[str, Any], Any]]]:
    """Returns selector and target of each port of the Services, by namespace and port."""
    found: dict[tuple[str, int], dict[str, tuple[dict[str, Any], Any]]] = {}
    for service in project.of_kind("Service"):
        selector = mapping(service.tree, "spec", "selector")
        for port in items(service.tree, "spec", "ports") if selector else ():
            number, target = integer(port, "port"), mapping(port).get("targetPort")
            if number is not None and target is not None:
                known = found.setdefault((service.namespace, number), {})
                known.setdefault(str((selector, target)), (selector, target))
    return {key: list(known.values()) for key, known in found.items()}


_targets: LastIndex[Project, dict[tuple[str, int], list[tuple[dict[str, Any], Any]]]] = LastIndex(_find_targets)
