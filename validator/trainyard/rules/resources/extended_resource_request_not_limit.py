"""Request and limit of a device differ, or a device is asked for in parts, and Kubernetes refuses the pod.

Devices such as `nvidia.com/gpu` or `rdma/hca`, and huge pages, cannot be overcommitted: `requests` and `limits` must
be the same number (`must be equal to nvidia.com/gpu limit of 8`), and a device is a whole number (`must be an
integer`). The custom resources of training operators are accepted all the same, because nothing checks the pod
template in them; the operator then fails to create the pods. A `batch/v1` Job is refused at once.

Write one number in both, or only the limit: the request follows by itself. Parts of a GPU are MIG devices, or time
slices of the device plugin, each of which is again a whole number.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.extended_resources import is_device, is_exact, is_whole, quantity_at
from validator.facts.quantities import number
from validator.model import Container
from validator.rule import Context, Problem, SetValue, rule


@rule(
    code="RS002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateResourceRequirements",
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: ValidateResourceQuantityValue",
    ),
    fix="safe",
)
def extended_resource_request_not_limit(container: Container, context: Context) -> Iterator[Problem]:
    """Two numbers for one device, or half a device."""
    for name, request in container.requests.items():
        if not is_exact(name):
            continue
        asked, allowed = number(request), number(container.limits.get(name))
        if asked is not None and allowed is not None and asked != allowed:
            at = quantity_at(context.run, context.role, container, "requests", name)
            limit = container.limits[name]
            yield Problem(
                at,
                f"the request of {request} {name} is not its limit of {limit}: Kubernetes refuses the pod",
                f"write {limit} in both, or only the limit",
                (SetValue(at, limit),) if is_whole(limit) else (),
            )
    for field, quantities in (("limits", container.limits), ("requests", container.requests)):
        for name, quantity in quantities.items():
            if is_device(name) and not is_whole(quantity):
                yield Problem(
                    quantity_at(context.run, context.role, container, field, name),
                    f"{quantity} is no whole number of {name}: Kubernetes refuses the pod",
                    "write a whole number of devices",
                )
