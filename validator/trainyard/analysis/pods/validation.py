"""Pods that the API server refuses although each field has the right type: values that exclude each other.

Source: kubernetes v1.34.4 pkg/apis/core/validation/validation.go (ValidateTolerations, ValidateNodeSelectorRequirement,
validateLivenessProbe, validateHandler, ValidateResourceRequirements, validateContainerPorts,
validateEnvVarValueFrom, validateVolumes, ValidateSecurityContext) and apimachinery pkg/util/validation
(IsValidLabelValue).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission import constraints, pods
from trainyard.analysis.admission.constraints import Refused
from trainyard.analysis.pods.placement import required_expressions
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.facts.kubernetes.volumes import SOURCES
from trainyard.loaders.origins import RenderedDocument
from trainyard.model.run import Container, Pod
from trainyard.startup import pattern

PLAIN = ("cpu", "memory", "ephemeral-storage")
HANDLERS = ("httpGet", "tcpSocket", "exec", "grpc")
# What a person or the values of a chart leave open; an empty value leaves a separator at an end.
_PLACEHOLDER = pattern(r"[{$<]|" + constraints.TO_FILL_IN)
_OPEN = pattern(r"\A[-_.]|[-_.]\Z")


def refused(pod: Pod) -> Iterator[Refused]:
    """Yields what is certainly refused in a pod."""
    # Most pods have few of these fields.
    if "tolerations" in pod.tree:
        yield from _tolerations(pod)
    if "affinity" in pod.tree:
        yield from _node_terms(pod)
    for name, value in (*pod.labels.items(), *mapping(pod.tree, "nodeSelector").items()):
        if isinstance(value, str) and not constraints.LABEL_VALUE.match(value) and not _PLACEHOLDER.search(value):
            if isinstance(pod.at.document, RenderedDocument) and _OPEN.search(value):
                continue
            own = name in pod.labels
            field = pod.template_at.child("metadata", "labels") if own else pod.at.child("nodeSelector")
            yield Refused(
                field.child(name),
                f"`{value}` is not a valid label value, which has up to 63 letters, digits, `-`, `_` and `.`",
                "move it to an annotation" if own else "write the value as the nodes have it",
            )
    for index, volume in enumerate(items(pod.tree, "volumes")):
        if not isinstance(volume, dict) or len(volume) < 3:
            continue
        # Another rule reports what is no field of a volume.
        sources = [name for name, body in volume.items() if name in SOURCES and body is not None]
        if len(sources) > 1:
            at = pod.at.child("volumes", index, sources[1]).key()
            yield Refused(at, f"a volume has one source, and this has `{sources[0]}` and `{sources[1]}`", "remove one")
    for container in (*pod.init_containers, *pod.containers):
        yield from _container(container, pod)
    yield from constraints.refused(pods.ROWS, pod.tree, pod.at)


def _tolerations(pod: Pod) -> Iterator[Refused]:
    for index, one in enumerate(items(pod.tree, "tolerations")):
        if not isinstance(one, dict):
            continue
        path, operator = ("tolerations", index), text(one, "operator")
        if operator == "Exists" and text(one, "value"):
            place = pod.at.child(*path, "value")
            yield Refused(place, "a toleration with `operator: Exists` takes no value", "write `Equal`")
        if not one.get("key") and operator in ("", "Equal"):
            place = pod.at.child(*path)
            yield Refused(place, "a toleration without a key needs `operator: Exists`", "write `operator: Exists`")
        if one.get("tolerationSeconds") is not None and text(one, "effect") != "NoExecute":
            place = pod.at.child(*path, "tolerationSeconds")
            yield Refused(place, "`tolerationSeconds` goes with `effect: NoExecute` alone", "remove it")


def _node_terms(pod: Pod) -> Iterator[Refused]:
    for one, at in required_expressions(pod):
        operator, values = text(one, "operator"), items(one, "values")
        if operator in ("In", "NotIn") and not values and isinstance(one, dict) and "$" not in str(one):
            yield Refused(at, f"`operator: {operator}` needs values", "add them, or write `Exists`")
        elif operator in ("Exists", "DoesNotExist") and values:
            yield Refused(at.child("values").key(), f"`operator: {operator}` takes no values", "write `In`")
        elif operator in ("Gt", "Lt") and len(values) != 1:
            yield Refused(at, f"`operator: {operator}` takes one value", "write one integer")


def _container(container: Container, pod: Pod) -> Iterator[Refused]:
    tree, at = container.tree, container.at
    if not tree.keys().isdisjoint(pods.PROBES):
        yield from _probes(container)
    for name in PLAIN:
        asked, most = container.requests.get(name), container.limits.get(name)
        # Another rule compares extended resources, whose request must be the limit.
        if asked is None or most is None or asked == most:
            continue
        limit, value = parse_quantity(most), parse_quantity(asked)
        if limit is not None and value is not None and value > limit:
            place = at.child("resources", "requests", name)
            yield Refused(place, f"the request of {name} is above its limit, `{most}`", "lower it")
    if "securityContext" in tree:
        yield from _security(container)
    for index, entry in enumerate(items(tree, "env")):
        if isinstance(entry, dict) and "valueFrom" in entry and entry["valueFrom"] and entry.get("value"):
            place = at.child("env", index, "value")
            yield Refused(place, "a variable has `value` or `valueFrom`, and not both", "remove one")
    if pod.host_network:
        for index, port in enumerate(items(tree, "ports")):
            yield from _host_port(mapping(port), at.child("ports", index))


def _probes(container: Container) -> Iterator[Refused]:
    tree, at = container.tree, container.at
    for probe in pods.PROBES:
        body = tree.get(probe)
        if not isinstance(body, dict):
            continue
        handlers = [name for name in body if name in HANDLERS and body[name] is not None]
        if len(handlers) > 1:
            place = at.child(probe, handlers[1]).key()
            yield Refused(place, f"a probe has one handler, and this has {' and '.join(handlers)}", "remove one")
        if probe != "readinessProbe" and body.get("successThreshold") not in (None, 1):
            yield Refused(at.child(probe, "successThreshold"), f"`successThreshold` of {probe} is 1", "remove it")


def _security(container: Container) -> Iterator[Refused]:
    if mapping(container.tree, "securityContext").get("allowPrivilegeEscalation") is not False:
        return
    place = container.at.child("securityContext", "allowPrivilegeEscalation")
    if container.privileged:
        yield Refused(place, "a privileged container cannot have `allowPrivilegeEscalation: false`", "remove one")
    elif "CAP_SYS_ADMIN" in container.capabilities:
        yield Refused(place, "CAP_SYS_ADMIN excludes `allowPrivilegeEscalation: false`", "remove one")


def _host_port(port: dict[str, Any], at: Place) -> Iterator[Refused]:
    host, own = port.get("hostPort"), port.get("containerPort")
    if isinstance(host, int) and isinstance(own, int) and host != own:
        yield Refused(at.child("hostPort"), f"with `hostNetwork`, hostPort {host} must be containerPort {own}", "")
