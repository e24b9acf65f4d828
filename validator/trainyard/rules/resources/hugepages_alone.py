"""Huge pages are requested without CPU or memory, or not in whole pages, so Kubernetes rejects the pod.

A container that requests `hugepages-2Mi` or `hugepages-1Gi` must request `cpu` or `memory` as well
(`HugePages require cpu or memory`), and the quantity must be a multiple of the page size
(`is not positive integer multiple of`). The custom resources of training operators are accepted all the same, because
nothing validates their pod template; the operator then fails to create the pods, and the run stays without pods.

The rule ignores namespaces whose LimitRange is among the files and sets memory or CPU.

Write a memory limit beside the huge pages, and a quantity such as `5120Mi`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.limits import has_default_limit
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.extended_resources import HUGE_PAGES
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container


@rule(
    code="RS003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateResourceRequirements",
        "kubernetes v1.34.4 pkg/apis/core/helper/helpers.go: IsHugePageResourceValueDivisible",
    ),
    needs=("hugepages-",),
)
def hugepages_alone(container: Container, context: Context) -> Iterator[Problem]:
    """Huge pages without memory or CPU, or a fraction of a page."""
    asked = [
        (field, name, quantity)
        for field, quantities in (("limits", container.limits), ("requests", container.requests))
        for name, quantity in quantities.items()
        if name.startswith(HUGE_PAGES)
    ]
    if asked and _alone(container, context):
        field, name, _ = asked[0]
        yield Problem(
            quantity_at(context.run, context.role, container, field, name),
            f"container {container.name} requests {name} without memory or CPU: Kubernetes rejects the pod",
            "add a memory limit",
        )
    for field, name, quantity in asked:
        size, value = parse_quantity(name.removeprefix(HUGE_PAGES)), parse_quantity(quantity)
        if size and value is not None and value % size:
            yield Problem(
                quantity_at(context.run, context.role, container, field, name),
                f"{quantity} is not a multiple of the page size of {name}: Kubernetes rejects the pod",
                f"write a multiple of {name.removeprefix(HUGE_PAGES)}",
            )


def _alone(container: Container, context: Context) -> bool:
    run = context.run
    if run is None or not has_all_pods(run) or {"cpu", "memory"} & {*container.limits, *container.requests}:
        return False
    return not any(has_default_limit(context.project, run.namespace, name) for name in ("cpu", "memory"))
