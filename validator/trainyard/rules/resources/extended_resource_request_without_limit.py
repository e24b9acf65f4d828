"""A device or huge pages are requested without a limit, and Kubernetes refuses the pod.

Devices such as `nvidia.com/gpu` or `rdma/hca`, and huge pages, cannot be overcommitted: where `requests` has one,
`limits` must have it too. The custom resources of training operators are accepted all the same, because nothing checks
the pod template in them; the operator then fails to create the pods (`Limit must be set for non overcommitable
resources`), and the run stays without a pod. A `batch/v1` Job is refused at once.

Namespaces whose LimitRange is among the files and gives the limit are left alone.

Write the quantity under `limits`; the request follows by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.known import has_default_limit, pods_are_whole, runtime_has_limit
from validator.facts.extended_resources import is_exact, quantity_at
from validator.fields import mapping
from validator.model import Container
from validator.rule import Add, Context, Edit, Problem, rule
from validator.source import Place


@rule(
    code="RS001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateResourceRequirements",),
    fix="safe",
)
def extended_resource_request_without_limit(container: Container, context: Context) -> Iterator[Problem]:
    """A request of a device without its limit."""
    run = context.run
    if run is None or not pods_are_whole(run):
        return
    missing = {
        name: quantity
        for name, quantity in container.requests.items()
        if is_exact(name) and name not in container.limits and quantity is not None
    }
    for name, quantity in missing.items():
        if has_default_limit(context.project, run.namespace, name) or runtime_has_limit(run, name):
            continue
        at = quantity_at(run, context.role, container, "requests", name)
        yield Problem(
            at,
            f"{name} is requested and has no limit: Kubernetes refuses the pod",
            f"write `{name}: {quantity}` under limits",
            _with_limit(container, at, name, missing),
        )


def _with_limit(container: Container, request: Place, name: str, missing: dict[str, object]) -> tuple[Edit, ...]:
    resources = Place(request.document, request.path[:-2])
    if len(missing) == 1 or container.limits:
        return (Add(resources.child("limits"), name, missing[name]),)
    # Two fields that are each added to a mapping not there yet would bring two mappings; the same edit is made once.
    return (Add(resources, "limits", missing),) if "limits" not in mapping(container.tree, "resources") else ()
