"""Huge pages are asked for in a way that Kubernetes refuses: without CPU and memory, or not in whole pages.

A container that asks for `hugepages-2Mi` or `hugepages-1Gi` has to ask for `cpu` or `memory` as well (`HugePages
require cpu or memory`), and the quantity is a multiple of the page size (`is not positive integer multiple of`). The
custom resources of training operators are accepted all the same, because nothing checks the pod template in them; the
operator then fails to create the pods, and the run stays without a pod.

Namespaces whose LimitRange is among the files and gives memory or CPU are left alone.

Write a memory limit beside the huge pages, and a quantity such as `5120Mi`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.known import has_default_limit, pods_are_whole
from validator.facts.extended_resources import HUGE_PAGES, quantity_at
from validator.facts.quantities import number
from validator.model import Container
from validator.rule import Context, Problem, rule


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
    """Huge pages without the memory around them, or parts of a page."""
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
            f"container {container.name} asks for {name} and for no memory or CPU: Kubernetes refuses the pod",
            "write a memory limit too",
        )
    for field, name, quantity in asked:
        size, value = number(name.removeprefix(HUGE_PAGES)), number(quantity)
        if size and value is not None and value % size:
            yield Problem(
                quantity_at(context.run, context.role, container, field, name),
                f"{quantity} is no multiple of the page size of {name}: Kubernetes refuses the pod",
                f"write a multiple of {name.removeprefix(HUGE_PAGES)}",
            )


def _alone(container: Container, context: Context) -> bool:
    run = context.run
    if run is None or not pods_are_whole(run) or {"cpu", "memory"} & {*container.limits, *container.requests}:
        return False
    return not any(has_default_limit(context.project, run.namespace, name) for name in ("cpu", "memory"))
