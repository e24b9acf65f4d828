"""References from objects without pods to other objects, such as those of bindings, autoscalers and queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple


class ObjectReference(NamedTuple):
    """A name of an object at a place. `field` is the same for references of one meaning."""

    kind: str
    name: str
    at: Place
    field: str


# The kind of an object, the path of a reference (`*`: each member of a list), the field with the name in it, and the
# kind of the other object if no `kind` stands beside the name; empty if one must.
_FIELDS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("RoleBinding", ("roleRef",), "name", ""),
    ("ClusterRoleBinding", ("roleRef",), "name", ""),
    ("RoleBinding", ("subjects", "*"), "name", ""),
    ("ClusterRoleBinding", ("subjects", "*"), "name", ""),
    ("HorizontalPodAutoscaler", ("spec", "scaleTargetRef"), "name", ""),
    ("VerticalPodAutoscaler", ("spec", "targetRef"), "name", ""),
    ("ScaledObject", ("spec", "scaleTargetRef"), "name", "Deployment"),
    ("ScaledObject", ("spec", "triggers", "*", "authenticationRef"), "name", "TriggerAuthentication"),
    ("ScaledJob", ("spec", "triggers", "*", "authenticationRef"), "name", "TriggerAuthentication"),
    ("NodePool", ("spec", "template", "spec", "nodeClassRef"), "name", ""),
    ("Ingress", ("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    ("Ingress", ("spec", "defaultBackend", "service"), "name", "Service"),
    ("HTTPRoute", ("spec", "rules", "*", "backendRefs", "*"), "name", "Service"),
    ("HTTPRoute", ("spec", "parentRefs", "*"), "name", "Gateway"),
    ("PersistentVolumeClaim", ("spec",), "volumeName", "PersistentVolume"),
    ("ExternalSecret", ("spec", "secretStoreRef"), "name", "SecretStore"),
    ("Certificate", ("spec", "issuerRef"), "name", "Issuer"),
    ("ClusterQueue", ("spec", "admissionChecksStrategy", "admissionChecks", "*"), "name", "AdmissionCheck"),
    ("AdmissionCheck", ("spec", "parameters"), "name", ""),
    ("ResourceFlavor", ("spec",), "topologyName", "Topology"),
    ("InferenceService", ("spec", "predictor", "model"), "runtime", "ServingRuntime"),
    ("TrainJob", ("spec", "runtimeRef"), "name", "ClusterTrainingRuntime"),
    ("DeviceTaintRule", ("spec", "deviceSelector"), "deviceClassName", "DeviceClass"),
    ("ResourceClaim", ("spec", "devices", "requests", "*", "exactly"), "deviceClassName", "DeviceClass"),
    (
        "ResourceClaimTemplate",
        ("spec", "spec", "devices", "requests", "*", "exactly"),
        "deviceClassName",
        "DeviceClass",
    ),
    ("ResourceClaim", ("spec", "devices", "requests", "*"), "deviceClassName", "DeviceClass"),
    ("ResourceClaimTemplate", ("spec", "spec", "devices", "requests", "*"), "deviceClassName", "DeviceClass"),
)
_BY_KIND = {kind: [one[1:] for one in _FIELDS if one[0] == kind] for kind in dict.fromkeys(one[0] for one in _FIELDS)}


def object_references(project: Project) -> Iterator[ObjectReference]:
    """Yields the references of all objects."""
    for kind, fields in _BY_KIND.items():
        for resource in project.of_kind(kind):
            for path, field, other in fields:
                yield from _read(resource, path, field, other)


def _read(resource: Resource, path: tuple[str, ...], field: str, kind: str) -> Iterator[ObjectReference]:
    for tree, at in _walk(resource.tree, resource.at, path):
        name = text(tree, field)
        other = (text(tree, "kind") or kind) if field == "name" else kind
        if name and other and "{" not in name and "$" not in name:
            yield ObjectReference(other, name, at.child(field), f"{resource.kind} {'.'.join(path)}")


def _walk(tree: Any, at: Place, path: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], Place]]:
    if not path:
        if isinstance(tree, dict):
            yield tree, at
        return
    if path[0] == "*":
        for index, one in enumerate(tree if isinstance(tree, list) else ()):
            yield from _walk(one, at.child(index), path[1:])
    elif isinstance(tree, dict) and path[0] in tree:
        yield from _walk(mapping(tree).get(path[0]), at.child(path[0]), path[1:])
