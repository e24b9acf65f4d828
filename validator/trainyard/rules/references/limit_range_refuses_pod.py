"""The LimitRange of the namespace refuses a pod, so the pod is not created.

The API server compares each container with the `max` and `min` of the LimitRange, and each pod with those of the type
`Pod`. It also gives a container without a limit the `default` of the range: if that is below the request that the
container writes, the pod is invalid. A controller tries again forever, and its job or server stays without pods.

Change the resources of the container, or the LimitRange.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.folders import of_namespace
from trainyard.analysis.resources.devices import quantity_at
from trainyard.analysis.resources.requests import limits_of, of_container, of_pod, place_of, written
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Role, Run, Workload


@rule(
    code="RF012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34 plugin/pkg/admission/limitranger: PodValidateLimitFunc, mergePodResourceRequirements",
        "kubernetes.io/docs/concepts/policy/limit-range: defaults that conflict with requests",
    ),
    needs=("LimitRange",),
)
def limit_range_refuses_pod(run: Workload, context: Context) -> Iterator[Problem]:
    """Pods outside of the range of their namespace."""
    if run.kind in RUNTIMES:
        return
    for found in of_namespace(context.project, "LimitRange", run.namespace, run.at):
        for index, limit in enumerate(items(found.tree, "spec", "limits")):
            at = found.at.child("spec", "limits", index)
            for role in run.roles:
                if text(limit, "type") == "Container":
                    for container in role.pod.containers:
                        yield from _of_container(run, role, container, limit, at)
                elif text(limit, "type") == "Pod":
                    yield from _of_pod(run, role, limit, at)


def _of_container(run: Run, role: Role, container: Container, limit: Any, range_at: Place) -> Iterator[Problem]:
    limits, requests = limits_of(container), of_container(container)
    for field, bound in (("max", limits), ("min", requests), ("default", requests)):
        for name, quantity in mapping(limit, field).items():
            value, own = parse_quantity(quantity), bound.get(name)
            if value is None or own is None or (field == "default" and name in container.limits):
                continue
            if own < value if field == "min" else own > value:
                at = quantity_at(run, role, container, "limits" if name in container.limits else "requests", name)
                yield Problem(
                    at,
                    _message(container.name, field, name, own, value),
                    "change it, or the LimitRange",
                    related=((range_at.child(field, name), "the LimitRange"),),
                )


def _message(container: str, field: str, name: str, own: float, value: float) -> str:
    amount, bound = written(own, name), written(value, name)
    if field == "default":
        return (
            f"container `{container}` requests {amount} {name} without a limit, and the LimitRange of the namespace "
            f"sets the limit to {bound}: the pod is refused"
        )
    relation = "at most" if field == "max" else "at least"
    return f"container `{container}` has {amount} {name}, but the LimitRange of the namespace allows {relation} {bound}"


def _of_pod(run: Run, role: Role, limit: Any, range_at: Place) -> Iterator[Problem]:
    for name, quantity in mapping(limit, "max").items():
        most, own = parse_quantity(quantity), of_pod(role.pod).get(name)
        if most is not None and own is not None and own > most:
            yield Problem(
                place_of(run, role, name),
                f"a pod of {role.name or run.kind} has {written(own, name)} {name}, but the LimitRange of the "
                f"namespace allows at most {written(most, name)}",
                "change it, or the LimitRange",
                related=((range_at.child("max", name), "the LimitRange"),),
            )
