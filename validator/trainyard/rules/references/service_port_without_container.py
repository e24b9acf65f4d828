"""The Service sends to a port that no container of its pods has, so connections to it are refused.

`targetPort` is the port of the pod, and equals `port` if it is not written. A Service with `port: 80` alone sends to
port 80, although the container listens at 8080.

`containerPort` is only a note, and programs listen on ports that nobody lists. Therefore, the rule looks at pods with
one container, if the Service sends to none of its listed ports, and neither commands nor variables nor probes name the
port of the Service, which is not the usual one of a server such as nginx either, and no other pod with the same image
lists it. A Service that sends to several ports, and one beside another that sends to the listed port, are left alone.
It says nothing of a list with several ports or with ports of metrics alone, unless the Service is for metrics too, of
ports for metrics if the container lists none, of webhooks at 9443, and of Envoy and Istio, whose ports come from a
control plane.

Write the port of the container into `targetPort`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.patches import is_patch
from trainyard.analysis.pods.selected import selected_pods
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Resource
from trainyard.startup import pattern

# The port of webhooks in controller-runtime, which few operators list. Source: pkg/webhook/server.go, DefaultPort.
_WEBHOOK = 9443
# The ports of servers without settings of their own, by a part of the name of their image. Source: their images.
_USUAL = {
    "nginx": (80, 443), "httpd": (80, 443), "apache": (80, 443), "caddy": (80, 443), "wordpress": (80,),
    "redis": (6379,), "postgres": (5432,), "mysql": (3306,), "mariadb": (3306,), "mongo": (27017,),
    "rabbitmq": (5672, 15672), "grafana": (3000,), "prometheus": (9090,), "jupyter": (8888,), "minio": (9000, 9001),
}  # fmt: skip
_NUMBER = pattern(r"\d+")
_FEW = 2
_OPERATION = ("metric", "health", "probe", "webhook", "debug", "monitor", "prom")


@rule(
    code="RF038",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/service: field spec.ports[].targetPort",
        "github.com/kubeflow/trainer pull 3056; github.com/aws-samples/aws-workshop-for-kubernetes pull 79",
    ),
    needs=("selector",),
)
def service_port_without_container(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report a number of a port that the only container of the pods does not list."""
    selector = mapping(resource.tree, "spec", "selector")
    if resource.kind != "Service" or resource.api_version != "v1" or not selector:
        return
    chosen = selected_pods(context.project, resource.namespace, selector)
    pod = chosen[0] if len(chosen) == 1 else None
    if pod is None or len(pod.containers) != 1 or pod.init_containers or is_patch(pod):
        return
    container = pod.containers[0]
    ports = [mapping(one) for one in items(container.tree, "ports")]
    listed = [one.get("containerPort") for one in ports]
    if not listed or not all(isinstance(one, int) for one in listed) or _is_proxy(container):
        return
    # A program with several ports often has more, and one that lists those of its operation leaves out the others.
    offered = " ".join(text(one, "name") for one in items(resource.tree, "spec", "ports"))
    about = [word for word in _OPERATION if any(word in text(one, "name") for one in ports)]
    if not any(word in offered for word in about) and (len(listed) > 1 or about):
        return
    wanted = [mapping(one).get("targetPort", mapping(one).get("port")) for one in items(resource.tree, "spec", "ports")]
    if any(one in wanted for one in listed if one != _WEBHOOK):
        return
    # Who sends to three ports, or to the listed one with another Service, knows the program, and the list is short.
    served = _served.of(context.project)
    if len({*wanted} - {_WEBHOOK}) > _FEW or any((id(pod.tree), one) in served for one in listed if one != _WEBHOOK):
        return
    for index, one in enumerate(items(resource.tree, "spec", "ports")):
        field = "targetPort" if isinstance(one, dict) and "targetPort" in one else "port"
        number = mapping(one).get(field)
        # Some servers have a port for gRPC that is 10000 above that for HTTP.
        if (
            isinstance(number, int)
            and (about or not _is_of_operation(mapping(one), resource))
            and not {number, number - 10_000} & {*listed, _WEBHOOK}
            and not _is_named(number, container)
            and not _is_usual(number, container)
            and (container.image, number) not in _listed.of(context.project)
        ):
            yield Problem(
                resource.at.child("spec", "ports", index, field),
                f"the Service sends to port {number}, and its container `{container.name}` lists {_shown(listed)}",
                f"write `targetPort: {listed[0]}`" if len(listed) == 1 else "write the port of the container",
                related=((container.at.child("ports"), "the ports of the container"),),
            )


def _find_served(project: Project) -> frozenset[tuple[int, Any]]:
    """Returns the pods of Services with the ports that these send to."""
    found: set[tuple[int, Any]] = set()
    for one in project.of_kind("Service"):
        selector = mapping(one.tree, "spec", "selector")
        pods = selected_pods(project, one.namespace, selector)
        for port in map(mapping, items(one.tree, "spec", "ports") if len(pods) == 1 else ()):
            found.add((id(pods[0].tree), port.get("targetPort", port.get("port"))))
    return frozenset(found)


def _is_of_operation(port: dict[str, Any], service: Resource) -> bool:
    """True for a port of metrics and the like, which containers often do not list."""
    return any(word in f"{text(port, 'name')} {service.name}" for word in _OPERATION)


def _is_proxy(container: Container) -> bool:
    """True for a proxy, whose ports its control plane sets."""
    return any(word in f"{container.name} {container.image}" for word in ("istio", "envoy", "proxyv2"))


def _is_usual(number: int, container: Container) -> bool:
    """True if the image is that of a server which listens on the port, whatever the container lists."""
    name = (container.image or "").rpartition("/")[2]
    return any(word in name and number in ports for word, ports in _USUAL.items())


def _shown(listed: list[Any]) -> str:
    return format_list(str(one) for one in listed)


def _is_named(number: int, container: Container) -> bool:
    return str(number) in _numbers.of(container)


def _find_numbers(container: Container) -> frozenset[str]:
    """Returns all numbers in the commands, scripts, probes and variables of a container."""
    texts = (*container.command, *container.args, *(one.text for one in container.scripts))
    probes = (str(container.tree.get(name, "")) for name in ("livenessProbe", "readinessProbe", "startupProbe"))
    every = (*texts, *probes, *(one.value or "" for one in container.settings))
    return frozenset(number for one in every for number in _NUMBER.findall(one))


def _find_listed(project: Project) -> frozenset[tuple[str | None, Any]]:
    """Returns the ports that any pod lists for its images."""
    return frozenset(
        (one.image, port.get("containerPort"))
        for run in project.runs
        for role in run.roles
        for one in role.pod.containers
        for port in map(mapping, items(one.tree, "ports"))
    )


# Each Service asks: reading all Services, or a script, for each would take quadratic time.
_served: LastIndex[Project, frozenset[tuple[int, Any]]] = LastIndex(_find_served)
_listed: LastIndex[Project, frozenset[tuple[str | None, Any]]] = LastIndex(_find_listed)
_numbers: LastIndex[Container, frozenset[str]] = LastIndex(_find_numbers)
