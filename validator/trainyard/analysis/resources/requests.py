"""Resources that the pods of a run request together.

Source: kubernetes v1.34 pkg/apis/core/v1/defaults.go (a request that is not given is that of the limit) and
component-helpers/resource/helpers.go (PodRequests: init containers run before the others).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainyard.analysis.resources.devices import quantity_at
from trainyard.document.document import Place
from trainyard.document.lookup import integer
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Pod, Role, Run


class Asked(NamedTuple):
    """The total of a resource, and the place of the first quantity of it."""

    total: float
    at: Place


def of_container(container: Container) -> dict[str, float]:
    """Returns the requests of a container; a limit without a request is one, too."""
    given = {**container.limits, **container.requests}
    known = ((str(name), parse_quantity(quantity)) for name, quantity in given.items())
    return {name: quantity for name, quantity in known if quantity}


def limits_of(container: Container) -> dict[str, float]:
    """Returns the limits of a container."""
    known = ((str(name), parse_quantity(quantity)) for name, quantity in container.limits.items())
    return {name: quantity for name, quantity in known if quantity}


def of_pod(pod: Pod) -> dict[str, float]:
    """Returns the sum of the requests of a pod's containers. Init containers may make it larger, never smaller."""
    return _sum([of_container(container) for container in pod.containers])


def limits_of_pod(pod: Pod) -> dict[str, float]:
    """Returns the sum of the limits of a pod's containers; none for a resource that one of them does not limit."""
    limits = [limits_of(container) for container in pod.containers]
    return {name: total for name, total in _sum(limits).items() if all(name in one for one in limits)}


def _sum(quantities: list[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in quantities:
        for name, quantity in one.items():
            total[name] = total.get(name, 0.0) + quantity
    return total


def pods_of(role: Role, run: Run) -> int:
    """Returns the smallest number of pods with which a role starts; 0 if it is not known."""
    least = integer(run.elastic or {}, "minReplicas") if role.name == "Worker" else None
    return min(role.replicas or 0, least) if least is not None else role.replicas or 0


def place_of(run: Run, role: Role, resource: str) -> Place:
    """Returns the place of the first quantity of a resource in a role's containers."""
    for container in role.pod.containers:
        for field, given in (("requests", container.requests), ("limits", container.limits)):
            if resource in given:
                return quantity_at(run, role, container, field, resource)
    return role.at


def asked(run: Run) -> Mapping[str, Asked]:
    """Returns the least total of each resource over all pods of a run."""
    found: dict[str, Asked] = {}
    for role in run.roles:
        for name, quantity in of_pod(role.pod).items():
            known = found.get(name) or Asked(0.0, place_of(run, role, name))
            found[name] = known._replace(total=known.total + quantity * pods_of(role, run))
    return found


def written(quantity: float, resource: str) -> str:
    """Returns a quantity as people write it."""
    if resource.endswith("memory") or resource.startswith("hugepages-") or "storage" in resource:
        for suffix, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20)):
            if quantity >= size:
                return f"{quantity / size:.4g}{suffix}"
    return f"{quantity:g}"
