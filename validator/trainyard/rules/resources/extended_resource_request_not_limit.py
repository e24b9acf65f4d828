"""The request of a device differs from its limit or is not a whole number; Kubernetes rejects the pod.

Devices such as `nvidia.com/gpu` or `rdma/hca`, and huge pages, cannot be overcommitted: `requests` and `limits` must be
equal (`must be equal to nvidia.com/gpu limit of 8`), and the number of devices must be whole (`must be an integer`).
The custom resources of training operators are accepted all the same, because nothing validates their pod template; the
operator then fails to create the pods. A `batch/v1` Job is rejected at once.

Write the same number in both, or only the limit: the request defaults to it. To share a GPU, use MIG devices or the
device plugin's time slices, of which each is again a whole number.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.extended_resources import is_device, is_exact, is_whole
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container


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
    """A request that differs from its limit, or a fraction of a device."""
    for name, request in container.requests.items():
        if not is_exact(name):
            continue
        asked, allowed = parse_quantity(request), parse_quantity(container.limits.get(name))
        if asked is not None and allowed is not None and asked != allowed:
            at = quantity_at(context.run, context.role, container, "requests", name)
            limit = container.limits[name]
            yield Problem(
                at,
                f"{name} has request {request} but limit {limit}: Kubernetes rejects the pod",
                f"write {limit} in both, or only the limit",
                (SetValue(at, limit),) if is_whole(limit) else (),
            )
    for field, quantities in (("limits", container.limits), ("requests", container.requests)):
        for name, quantity in quantities.items():
            if is_device(name) and not is_whole(quantity):
                yield Problem(
                    quantity_at(context.run, context.role, container, field, name),
                    f"{quantity} is not a whole number of {name}: Kubernetes rejects the pod",
                    "write a whole number of devices",
                )
