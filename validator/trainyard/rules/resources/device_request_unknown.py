"""A container names a claim or a request that the pod or the claim does not have, or a claim names an unknown request.

`resources.claims[].name` is the name of an entry of `resourceClaims` in the pod, and not that of a ResourceClaim. The
API server refuses the pod: `spec.containers[0].resources.claims[0].name: Not found`. `request` is the name of a
request in the claim; with another one, the container gets no device. `constraints` and `config` of a claim list its
requests by name: the API server refuses the claim for any other one.

The rule looks for the requests of a claim or its template in the files.

Write the name as under `resourceClaims` or `devices.requests`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.objects.object_references import is_unknown
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Pod, Project, Resource

_OBJECTS = {
    "resourceClaimName": ("ResourceClaim", ("spec",)),
    "resourceClaimTemplateName": ("ResourceClaimTemplate", ("spec", "spec")),
}
_PATHS = dict(_OBJECTS.values())
_NEAR = 0.6


@rule(
    code="RS030",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/apis/core/validation/validation.go: validateResourceClaimNames in containers",
        "kubernetes v1.37.2 pkg/apis/resource/validation/validation.go: validateRequestNameRef",
        "kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation: request of a container",
    ),
    needs=("ResourceClaim", "resourceClaims"),
)
def device_request_unknown(project: Project) -> Iterator[Problem]:
    """Report names of claims and requests that are not there."""
    for run in project.runs:
        for role in run.roles:
            yield from _in_pod(role.pod, run.namespace, project)
    for resource in project.of_kind(*_PATHS):
        yield from _in_claim(resource)


def _in_pod(pod: Pod, namespace: str, project: Project) -> Iterator[Problem]:
    claims = {text(one, "name"): one for one in items(pod.tree, "resourceClaims")}
    # A controller may add the claims of a pod that has none of its own.
    if not claims:
        return
    for container in (*pod.containers, *pod.init_containers):
        for index, wanted in enumerate(items(container.tree, "resources", "claims")):
            at, name = container.at.child("resources", "claims", index), text(wanted, "name")
            if not name or is_unknown(name):
                continue
            if name not in claims:
                yield _problem(
                    f"the pod has no claim `{name}` under `resourceClaims`", name, at.child("name"), set(claims)
                )
                continue
            requests, request = _requests(claims[name], namespace, pod.at, project), text(wanted, "request")
            if request and requests and request not in requests:
                yield _problem(f"the claim `{name}` has no request `{request}`", request, at.child("request"), requests)


def _in_claim(resource: Resource) -> Iterator[Problem]:
    path = (*_PATHS[resource.kind], "devices")
    devices, at = mapping(resource.tree, *path), resource.at.child(*path)
    known = _names(devices)
    for field in ("constraints", "config"):
        for index, one in enumerate(items(devices, field)):
            for number, name in enumerate(items(one, "requests")):
                if known and isinstance(name, str) and not is_unknown(name) and name not in known:
                    place = at.child(field, index, "requests", number)
                    yield _problem(f"the claim has no request `{name}`", name, place, known)


def _requests(claim: Any, namespace: str, at: Place, project: Project) -> set[str]:
    """Returns the names of the requests of a claim in the files; none if it is not there."""
    for field, (kind, path) in _OBJECTS.items():
        name = text(claim, field)
        found = fitting(project, kind, name, namespace, at) if name else []
        if len(found) == 1:
            return _names(mapping(found[0].tree, *path, "devices"))
    return set()


def _names(devices: dict[str, Any]) -> set[str]:
    """Returns the names of requests, and those of their alternatives: `gpu/large`."""
    found: set[str] = set()
    for one in items(devices, "requests"):
        name = text(one, "name")
        found.add(name)
        found.update(f"{name}/{text(other, 'name')}" for other in items(one, "firstAvailable"))
    return found - {""}


def _problem(what: str, name: str, at: Place, names: set[str]) -> Problem:
    near = closest_match(name, sorted(names), _NEAR)
    told = f"did you mean `{near}`?" if near else f"there are {format_list(f'`{one}`' for one in sorted(names))}"
    return Problem(at, what, told)
