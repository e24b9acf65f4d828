"""The route names an InferencePool of one API group, and the pool of the files is of the other.

The pools of the Gateway API moved from `inference.networking.x-k8s.io` to `inference.networking.k8s.io` with their
first stable version. Both may be in a cluster, and they are different kinds: a route to the group without the pool
has no backend, `BackendNotFound`, and the gateway answers 500 or 503. A reference without `group` means the core
group, which has no pools.

The rule compares the references of routes with the pools of the same name in the files.

Write the group of the pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.document import SetValue
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

_POOL, _ROUTES = "InferencePool", ("HTTPRoute", "GRPCRoute")


@rule(
    code="RF069",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/gateway-api v1.4.0 apis/v1/object_reference_types.go: BackendObjectReference, group and kind",
        "kubernetes-sigs/gateway-api-inference-extension v1.0.0 api/v1 and apix/v1alpha2: InferencePool",
        "github.com/kubernetes-sigs/gateway-api-inference-extension issue 1530",
    ),
    fix="unsafe",
    needs=(_POOL,),
)
def backend_of_other_group(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report routes to a pool of another group."""
    if resource.kind not in _ROUTES:
        return
    for number, entry in enumerate(items(resource.tree, "spec", "rules")):
        for index, backend in enumerate(items(entry, "backendRefs")):
            if text(backend, "kind") != _POOL:
                continue
            name, group = text(backend, "name"), text(backend, "group")
            at = resource.at.child("spec", "rules", number, "backendRefs", index)
            space = text(backend, "namespace") or resource.namespace
            pools = fitting(context.project, _POOL, name, space, resource.at)
            groups = {text(pool.tree, "apiVersion").partition("/")[0] for pool in pools}
            if len(groups) != 1 or group in groups or "{" in group or "$" in group:
                continue
            right = groups.pop()
            said = f"of the group `{group}`" if group else "without a group"
            place = at.child("group") if group else at.child("kind")
            yield Problem(
                place,
                f"the route names a pool {said}, and the pool `{name}` is of the group `{right}`: it has no backend",
                f"write `group: {right}`",
                (SetValue(place, right),) if group else (),
                ((pools[0].at.child("apiVersion"), "the pool"),),
            )
