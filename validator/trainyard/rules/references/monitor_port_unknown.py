"""The monitor scrapes a port that its Services or pods do not have, so Prometheus gets no target and shows no error.

`port` of a ServiceMonitor is the name of a port of the Service, and `port` of a PodMonitor the name of a port of a
container. A number in quotes is a name, too, and no container port has a number as its name. `targetPort` and
`portNumber` are compared with the ports that the containers declare: a program that listens on another port is not
found.

The rule applies if Services or pods in the folder of the monitor have the labels that it selects: an operator may
create others. It knows the port of the exporter that the GPU operator installs, `gpu-metrics`, if nothing in the files
has the label of its Service. Names of ports that a mesh adds are left out.

Write the name of the port, or declare the port in the container.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from trainyard.analysis.admission.constraints import is_known
from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.objects.folders import folder_of
from trainyard.analysis.objects.labelled import services_with
from trainyard.analysis.pods.selected import selected_anywhere
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.jobs.workloads import group_of
from trainyard.facts.programs.exporters import PORTS
from trainyard.model.run import Project, Resource, Role

# More than these are not compared: a label such as `release` is on everything.
_MOST = 20
_OF_MESH = ("envoy", "istio", "linkerd")
_FIELDS = {"ServiceMonitor": "endpoints", "PodMonitor": "podMetricsEndpoints"}
_Ports = frozenset[str]
_Found = TypeVar("_Found", Resource, Role)


@rule(
    code="RF057",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "prometheus-operator v0.85.0 pkg/prometheus/promcfg.go: generateServiceMonitorConfig, generatePodMonitorConfig",
        "kubernetes v1.37.2 apimachinery pkg/util/validation/validation.go: IsValidPortName needs a letter",
        "github.com/prometheus-operator/prometheus-operator issue 4639, kube-prometheus issue 726",
        "github.com/loft-sh/jspolicy issue 37",
        "NVIDIA/gpu-operator assets/state-dcgm-exporter/0600_service.yaml: the port `gpu-metrics`",
    ),
    needs=tuple(_FIELDS),
)
def monitor_port_unknown(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report ports of endpoints that nothing selected has."""
    field = _FIELDS.get(resource.kind)
    if field is None or group_of(resource.api_version) != "monitoring.coreos.com":
        return
    services = _services(resource, context.project) if resource.kind == "ServiceMonitor" else ()
    installed = _installed(resource, context.project) if resource.kind == "ServiceMonitor" and not services else None
    pods = _if_beside(tuple(_pods(resource, services, context.project)), resource)
    for index, endpoint in enumerate(items(resource.tree, "spec", field)):
        at = resource.at.child("spec", field, index)
        name = text(endpoint, "port")
        if name:
            if resource.kind == "ServiceMonitor":
                yield from _named(name, at.child("port"), "Service", installed or _names_of_services(services))
            elif name.isdigit():
                message = f"`{name}` is the name of a port here, and no container port has a number as its name"
                yield Problem(at.child("port"), message, f"write the name of the port, or `portNumber: {name}`")
            else:
                yield from _named(name, at.child("port"), "pod", _names_of_pods(pods))
        else:
            yield from _declared(endpoint, at, pods)


def _named(name: str, at: Place, what: str, names: _Ports | None) -> Iterator[Problem]:
    if names is None or name in names or not is_known(name) or any(one in name for one in _OF_MESH):
        return
    near = closest_match(name, sorted(names), 0.6)
    told = f"did you mean `{near}`?" if near else f"the ports: {format_list(sorted(names))}" if names else "name a port"
    yield Problem(at, f"no {what} that the monitor selects has a port `{name}`, so Prometheus gets no target", told)


def _declared(endpoint: Any, at: Place, pods: tuple[Role, ...]) -> Iterator[Problem]:
    for field in ("targetPort", "portNumber"):
        port = mapping(endpoint).get(field)
        if isinstance(port, bool) or not isinstance(port, int | str) or not pods or not is_known(port):
            continue
        ports = [one for pod in pods for one in _ports(pod)]
        if not any(port in (one.get("containerPort"), one.get("name")) for one in ports):
            told = f"add `containerPort: {port}` to the container that listens there"
            yield Problem(at.child(field), f"no container declares the port {port}, so Prometheus gets no target", told)


def _services(monitor: Resource, project: Project) -> tuple[Resource, ...]:
    """Returns the Services that the labels of a monitor select."""
    found = [one for one in services_with(project, _plain_selector(monitor)) if _is_near(one.namespace, monitor)]
    return _if_beside(tuple(found), monitor) if len(found) <= _MOST else ()


def _installed(monitor: Resource, project: Project) -> _Ports | None:
    """Returns the ports of the Service of an operator that a monitor selects, if the files have none with its label."""
    wanted = _plain_selector(monitor)
    known = [label for label in PORTS if wanted.get(label[0]) == label[1]]
    if not known or services_with(project, dict(known[:1])) or selected_anywhere(project, dict(known)):
        return None
    return PORTS[known[0]]


def _if_beside(found: tuple[_Found, ...], monitor: Resource) -> tuple[_Found, ...]:
    """Returns what was found if one of it is in the folder of the monitor, else nothing."""
    folder = folder_of(monitor.at)
    places = (one.pod.at if isinstance(one, Role) else one.at for one in found)
    return found if any(folder_of(place) == folder for place in places) else ()


def _pods(monitor: Resource, services: Iterable[Resource], project: Project) -> Iterator[Role]:
    """Yields the pods of a monitor: those that its labels select, or those of its Services."""
    selectors = [mapping(one.tree, "spec", "selector") for one in services]
    if monitor.kind == "PodMonitor":
        selectors = [_plain_selector(monitor)]
    for selector in selectors[:_MOST]:
        for run, role in selected_anywhere(project, selector):
            if has_all_pods(run) and _is_near(run.namespace, monitor):
                yield role


def _plain_selector(monitor: Resource) -> dict[str, str]:
    selector = mapping(monitor.tree, "spec", "selector")
    wanted = {str(name): str(value) for name, value in mapping(selector, "matchLabels").items()}
    is_plain = "matchExpressions" not in selector and all(map(is_known, wanted.values()))
    return wanted if is_plain else {}


def _is_near(namespace: str, monitor: Resource) -> bool:
    """True if the monitor may look into a namespace."""
    is_open = "namespaceSelector" in mapping(monitor.tree, "spec")
    return is_open or not namespace or not monitor.namespace or namespace == monitor.namespace


def _names_of_services(services: tuple[Resource, ...]) -> _Ports | None:
    if not services:
        return None
    return frozenset(text(port, "name") for one in services for port in items(one.tree, "spec", "ports")) - {""}


def _names_of_pods(pods: tuple[Role, ...]) -> _Ports | None:
    return frozenset(text(port, "name") for pod in pods for port in _ports(pod)) - {""} if pods else None


def _ports(role: Role) -> Iterator[dict[str, Any]]:
    for container in (*role.pod.containers, *role.pod.init_containers):
        yield from map(mapping, items(container.tree, "ports"))
